// The walk: Chromium through the whole console. See README.md.
import { chromium } from 'playwright-core'
import { claim, conclude, story } from './claims.js'
import { crawl } from './crawl.js'
import { keyboard } from './keyboard.js'
import { groupKinds, login } from './login.js'
import * as stories from './stories.js'
import { injected, watch } from './watch.js'

const origin = process.env.CONSOLE
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' })
context.setDefaultTimeout(60000) // a loaded machine takes its time
const faults = await watch(context, origin)
const page = await context.newPage()

await stories.groupReset(page, origin)
await stories.schemaEvolution(page, origin)
await groupKinds(page, origin)
const nav = await page.evaluate(() => [...document.querySelectorAll('nav.side a')].map((a) => new URL(a.href).pathname))
await stories.message(page, origin)
await stories.columnsAndPins(page, origin)
if (nav.includes('/timeline')) await stories.timeline(page, origin)
await keyboard(page, origin)
const texts = await page.goto(origin + '/groups?size=1000').then(() => page.evaluate(() => [...document.querySelectorAll('main tbody td:first-child')].map((td) => td.textContent.trim())))
claim(texts.length >= 250, 'hostile texts: the groups page has them all', String(texts.length))
await stories.hostilePages(page, origin, faults, injected, texts, texts.filter((_, i) => i % 20 === 0))
await stories.withoutScripts(browser, origin)
await login(browser, process.env.CONSOLE_LOGIN)

await story('every page', async () => {
  const visited = await crawl([page, await context.newPage()], origin)
  for (const at of nav) claim([...visited.values()].some((v) => new URL(v).pathname === at), `every page: ${at} of the navigation was looked at`)
  console.log(`     ${visited.size} kinds of pages`)
})
claim(faults.length === 0, 'no error, no violation of the policy, nothing from elsewhere', '\n  ' + [...new Set(faults)].slice(0, 30).join('\n  '))
await browser.close()
conclude()
