// A console that asks for a login, and groups of all kinds with members.
import { claim, story } from './claims.js'
import { audit, injected, watch } from './watch.js'

// login goes to a page as a stranger, logs in, loses the session, comes back, comes from another site, and logs out.
export async function login (browser, origin) {
  await story('login', async () => {
    const context = await browser.newContext({ viewport: { width: 360, height: 740 }, reducedMotion: 'reduce' })
    context.setDefaultTimeout(60000)
    const faults = await watch(context, origin)
    const page = await context.newPage()
    await page.goto(origin + '/topics?topics.q=x')
    claim(new URL(page.url()).pathname === '/login', 'login: a stranger is led to it', page.url())
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      const faults = await audit(page)
      claim(faults.length === 0, `login: axe finds nothing serious (${colorScheme}, 360 px)`, faults.join(' '))
    }
    claim(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'login: nothing is wider than the window')
    const enter = async (password) => {
      await page.getByLabel('Name').fill('ada')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Log in' }).click()
    }
    await enter('"><img src=x onerror=hostile(1)>')
    await page.getByText('Name or password is wrong.').waitFor()
    claim((await injected(page)).length === 0 && await page.getByLabel('Password').inputValue() === '', 'login: a wrong password is said, and not shown')
    await enter('ada-secret')
    await page.waitForURL(origin + '/topics?topics.q=x')
    claim(await page.getByRole('button', { name: 'Log out' }).isVisible(), 'login: it leads back to where one was going')
    const cookies = (await context.cookies()).filter((c) => c.name.startsWith('doze_session'))
    claim(cookies.length === 1 && cookies[0].httpOnly && cookies[0].sameSite === 'Strict' && cookies[0].expires === -1, 'login: the session is a strict cookie that no script sees', JSON.stringify(cookies))

    await page.goto('data:text/html,' + encodeURIComponent(`<a href="${origin}/broker">from elsewhere</a>`))
    await page.getByText('from elsewhere').click()
    await page.waitForURL(origin + '/broker')
    await page.getByRole('heading', { name: 'Broker' }).first().waitFor()
    claim(true, 'login: a link of another site leads to its page, not to the login')

    await page.goto(origin + '/')
    await context.clearCookies()
    await page.getByText('The session has ended.').waitFor()
    claim(await page.getByRole('heading', { name: 'Overview' }).isVisible(), 'login: a page whose session has ended says so and stays')
    await page.locator('#login-again').click()
    await page.waitForURL(/\/login\?to=%2F$/)
    await enter('ada-secret')
    await page.waitForURL(origin + '/')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.waitForURL(origin + '/login')
    await page.goto(origin + '/topics')
    claim(new URL(page.url()).pathname === '/login', 'login: after the logout one is a stranger')
    const others = faults.filter((f) => !/Error Code 401/.test(f)) // htmx writes the poll's to the console
    claim(others.length === 0, 'login: no error, no violation of the policy', [...new Set(others)].join(' '))
    await context.close()
  })
  await story('login without JavaScript', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(origin + '/groups')
    await page.getByLabel('Name').fill('ada')
    await page.getByLabel('Password').fill('ada-secret')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.waitForURL(origin + '/groups')
    claim((await page.locator('main').textContent()).includes('Groups'), 'login: it works without JavaScript')
    await context.close()
  })
}

// groupKinds looks at a group of each kind that has a member: who it is, and what it has been given.
export async function groupKinds (page, origin) {
  await story('groups of all kinds', async () => {
    for (const [group, kind, client, topic] of [['billing', 'classic', 'billing-app', 'orders'], ['audit', 'consumer', 'audit-app', 'payments'], ['workers', 'share', 'worker-app', 'clicks'], ['word-count', 'streams', 'word-count-app', 'active 0']]) {
      await page.goto(`${origin}/groups/${group}`)
      const facts = await page.locator('dl.facts').first().textContent()
      const members = await page.locator('section', { has: page.getByRole('heading', { name: 'Members' }) }).locator('tbody tr').allTextContents()
      claim(facts.includes(kind) && facts.includes('Stable'), `groups: ${group} is a ${kind} group, stable`, facts)
      claim(members.length === 1 && (members[0].includes(client) || group === 'audit') && members[0].includes(topic), `groups: its member and what it was given (${topic})`, members.join(' | '))
    }
  })
}
