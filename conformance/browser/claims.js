// What the walk claims: a line for each, and the sum at the end.
const failed = []
let passed = 0

export function claim (good, what, why = '') {
  if (good) {
    passed++
    console.log(`PASS ${what}`)
  } else {
    failed.push(what)
    console.log(`FAIL ${what}${why ? ': ' + why : ''}`)
  }
  return good
}

// story runs some steps; an error in one of them is a claim that failed, and the next story goes on.
export async function story (name, steps) {
  const began = Date.now()
  try {
    await steps()
  } catch (e) {
    claim(false, name, String(e.stack || e).split('\n').slice(0, 6).join(' | '))
  }
  console.log(`     ${name}: ${((Date.now() - began) / 1000).toFixed(1)} s`)
}

export function conclude () {
  console.log(`${passed} passed, ${failed.length} failed`)
  process.exitCode = failed.length ? 1 : 0
}
