package walk;

import java.util.ArrayList;
import java.util.List;

/** The difference of two texts by lines: "- line" for what is missing, "+ line" for what is too much. */
final class LineDiff {
    private LineDiff() {}

    static List<String> of(List<String> want, List<String> got) {
        int[][] common = common(want, got);
        List<String> lines = new ArrayList<>();
        int i = 0;
        int j = 0;
        while (i < want.size() || j < got.size()) {
            if (i < want.size() && j < got.size() && want.get(i).equals(got.get(j))) {
                i++;
                j++;
            } else if (j == got.size() || (i < want.size() && common[i + 1][j] >= common[i][j + 1])) {
                lines.add("- " + want.get(i++));
            } else {
                lines.add("+ " + got.get(j++));
            }
        }
        return lines;
    }

    /** How many lines the rests of both have in common, in order. */
    private static int[][] common(List<String> want, List<String> got) {
        int[][] common = new int[want.size() + 1][got.size() + 1];
        for (int i = want.size() - 1; i >= 0; i--) {
            for (int j = got.size() - 1; j >= 0; j--) {
                common[i][j] = want.get(i).equals(got.get(j)) ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
            }
        }
        return common;
    }
}
