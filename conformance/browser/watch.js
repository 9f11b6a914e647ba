// A page that is watched: whatever it should not do is kept, with the address where it happened.
import fs from 'node:fs'
import { createRequire } from 'node:module'

const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// watch keeps what goes wrong in every page of a context. A page that says "not found" is no fault in itself: Chromium writes that to the
// console, and who went there claims what it should have been.
export async function watch (context, origin) {
  const faults = []
  const note = (page, what) => faults.push(`${page.url().slice(0, 200)}: ${what.slice(0, 400)}`)
  await context.exposeBinding('reportHostile', ({ page }, n) => note(page, `a hostile text ran: ${n}`))
  await context.addInitScript(() => {
    window.hostile = (n) => window.reportHostile(String(n))
    document.addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`))
  })
  context.on('page', (page) => {
    page.on('pageerror', (e) => note(page, `error: ${e.message}`))
    page.on('console', (m) => { if (/error|warning/.test(m.type()) && !/status of 4\d\d/.test(m.text())) note(page, `console ${m.type()}: ${m.text()}`) })
    page.on('dialog', (d) => { note(page, `dialog: ${d.message()}`); d.dismiss() })
    page.on('request', (r) => { if (!r.url().startsWith(origin) && !r.url().startsWith('data:')) note(page, `went to ${r.url()}`) })
    page.on('response', (r) => { if (r.status() >= 500) note(page, `answer ${r.status()} of ${r.url()}`) })
  })
  return faults
}

// audit asks axe for faults of accessibility; those that are serious or worse come back in words. The policy of the console lets no
// page run text as script, so axe comes in by the debugger.
export async function audit (page, only) {
  const cdp = await page.context().newCDPSession(page)
  try {
    await cdp.send('Runtime.evaluate', { expression: axeSource })
    const options = only ? { runOnly: { type: 'rule', values: only } } : { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] } }
    const run = `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })}).then(r => JSON.stringify(r.violations.map(v => ({ id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)) }))))`
    const { result, exceptionDetails } = await cdp.send('Runtime.evaluate', { expression: run, awaitPromise: true, returnByValue: true })
    if (exceptionDetails) throw new Error(`axe: ${exceptionDetails.exception?.description || exceptionDetails.text}`)
    return JSON.parse(result.value).filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => `${v.id} (${v.help}): ${v.nodes.join(' ; ')}`)
  } finally {
    await cdp.detach()
  }
}

// injected finds elements that only a hostile text could have made.
export function injected (page) {
  return page.evaluate(() => [...document.querySelectorAll('script:not([src]), style, iframe, object, embed, base, marquee, math, video, audio, frameset, portal, main noscript, main img, main meta, main link, [hx-on\\:click], [x-html], [x-effect], link[href*="evil"], form[action*="evil"], a[href^="javascript:"], [onerror], [onload], [onmouseover], [onfocus], [onstart], [ontoggle], [x-init]')].map((e) => e.outerHTML.slice(0, 200)))
}
