// Every page that links lead to, in both themes, narrow and wide. There is no list of pages to forget one in: a page is of a new kind when
// its address is, with the names of things taken out.
import { audit, injected } from './watch.js'
import { claim } from './claims.js'

// A kind of page is looked at this many times: with other things in it, it may be another page.
const each = 1
const mostPages = 160

// kindOf takes names out of an address: what follows one of these is a name.
const named = ['topics', 'groups', 'subjects', 'config', 'tokens', 'users', 'clients', 'entries', 'messages', 'requests', 'traces']
export function kindOf (address) {
  const url = new URL(address)
  const parts = url.pathname.split('/').filter(Boolean)
  for (let i = 1; i < parts.length; i++) {
    if (named.includes(parts[i - 1]) || /^\d+$/.test(parts[i])) parts[i] = '*'
  }
  // Other rows of the same table are no other page.
  const values = [...new Set(url.searchParams.keys())].filter((name) => !/(^|\.)(sort|page|size|q)$/.test(name)).sort().map((name) => /^(view|tab|as)$/.test(name) ? `${name}=${url.searchParams.get(name)}` : name)
  return '/' + parts.join('/') + (values.length ? '?' + values.join('&') : '')
}

// links are the addresses that a page leads to by GET.
function links (page) {
  return page.evaluate(() => [...document.querySelectorAll('a[href]')].filter((a) => a.origin === location.origin && !a.hasAttribute('download')).map((a) => a.href.split('#')[0]))
}

// crawl looks at one page of each kind and returns the kinds with an address of each.
export async function crawl (pages, origin) {
  const found = new Map() // kind: how often it was looked at
  const queue = [origin + '/']
  const visited = new Map()
  const take = () => {
    while (queue.length) {
      const address = queue.shift()
      const kind = kindOf(address)
      const n = found.get(kind) || 0
      if (n >= each || visited.size >= mostPages || /\/static\/|export|download/.test(address)) continue
      found.set(kind, n + 1)
      visited.set(kind, address)
      return { kind, address }
    }
  }
  let working = 0
  await Promise.all(pages.map(async (page) => {
    for (;;) {
      const next = take()
      if (!next) {
        if (working === 0) return
        await new Promise((resolve) => setTimeout(resolve, 50))
        continue
      }
      working++
      try {
        queue.push(...await look(page, next))
      } catch (e) {
        if (String(e).includes('Download is starting')) visited.delete(next.kind) // a file is no page
        else claim(false, `page ${next.kind}`, String(e).slice(0, 300))
      } finally {
        working--
      }
    }
  }))
  return visited
}

// look opens a page in the dark and in the light theme and at the width of a telephone.
async function look (page, { kind, address }) {
  const wrong = []
  await theme(page, 'dark')
  const answer = await page.goto(address, { waitUntil: 'load' })
  if (!answer) return []
  if (!(answer.headers()['content-type'] || '').includes('text/html')) return []
  if (answer.status() !== 200) wrong.push(`status ${answer.status()}`)
  wrong.push(...(await injected(page)).map((e) => `injected ${e}`))
  wrong.push(...(await audit(page)).map((v) => `dark: ${v}`))
  const next = await links(page)
  await theme(page, 'light')
  await page.evaluate(() => { document.documentElement.dataset.theme = 'light' })
  wrong.push(...(await audit(page, ['color-contrast'])).map((v) => `light: ${v}`))
  await page.setViewportSize({ width: 360, height: 740 })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  if (wide > 360) wrong.push(`${wide} px wide at 360: ${await widest(page)}`)
  await page.setViewportSize({ width: 1280, height: 800 })
  claim(wrong.length === 0, `page ${kind} in both themes and at 360 px`, `${address.slice(0, 160)}: ${wrong.join(' | ').slice(0, 1500)}`)
  return next
}

function widest (page) {
  return page.evaluate(() => [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > 361 && !e.closest('.scroll')).slice(0, 3).map((e) => e.outerHTML.slice(0, 120)).join(' ; '))
}

export async function theme (page, which) {
  const origin = process.env.CONSOLE
  await page.context().addCookies([{ name: 'doze_theme', value: which, url: origin }])
}
