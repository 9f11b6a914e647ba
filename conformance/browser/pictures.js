// The pictures of the documents: these pages, in both themes.
import path from 'node:path'
import { chromium } from 'playwright-core'

const kept = [
  ['overview', '/'], ['topics', '/topics'], ['topic', '/topics/orders'], ['messages', '/topics/orders/messages'],
  ['groups', '/groups'], ['group', '/groups/billing'], ['group-reset', '/groups/search-index/reset?strategy=earliest'],
  ['schemas', '/schemas'], ['schema', '/schemas/subjects/orders-value'], ['schema-diff', '/schemas/subjects/orders-value/diff?from=2&to=3&view=side'], ['schema-new', '/schemas/new?subject=orders-value'],
  ['acls', '/security'], ['allowed', '/security/allowed?principal=User:alice&operation=3&type=2&name=orders'], ['quotas', '/security/quotas'],
  ['broker', '/broker'], ['log-dirs', '/broker/log-dirs'], ['features', '/broker/features'], ['findings', '/broker/findings'],
  ['traffic', '/traffic'], ['telemetry', '/telemetry'],
  ['telemetry-client', '/telemetry', 'checkout-service'], ['timeline', '/timeline']
]

const origin = process.env.CONSOLE
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
for (const theme of ['dark', 'light']) {
  const context = await browser.newContext({ viewport: { width: 1120, height: 700 }, reducedMotion: 'reduce' })
  await context.addCookies([{ name: 'doze_theme', value: theme, url: origin }])
  const page = await context.newPage()
  for (const [name, at, link] of kept) { // link: the page behind it
    const answer = await page.goto(origin + at)
    if (answer.status() === 404) continue
    if (link) await page.goto(origin + await page.getByRole('link', { name: link }).first().getAttribute('href'))
    await page.screenshot({ path: path.join(process.env.PICTURES, `${name}-${theme}.png`) })
    console.log(`${name}-${theme}.png`)
  }
}
await browser.close()
