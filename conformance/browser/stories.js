// What a person does, from end to end.
import { claim, story } from './claims.js'

// groupReset sets a group back, looks at it, and takes it back again.
export async function groupReset (page, origin) {
  await story('group reset', async () => {
    await page.goto(origin + '/groups/search-index')
    const committed = () => page.locator('#p tbody tr').first().locator('td.num').nth(1).textContent()
    const before = (await committed()).trim()
    await page.getByRole('link', { name: 'Reset offsets' }).click()
    const dialog = page.locator('#dialog')
    await dialog.getByLabel('Strategy').selectOption('earliest')
    await dialog.getByRole('button', { name: 'Show what would happen' }).click()
    await dialog.getByRole('button', { name: 'Reset 3 partitions' }).waitFor()
    claim((await dialog.locator('tbody tr').count()) === 3, 'group reset: what would happen is shown for each partition')
    await dialog.getByRole('button', { name: 'Reset 3 partitions' }).click()
    await page.getByText('Reset 3 partitions of search-index').waitFor()
    claim((await committed()).trim() === '0', 'group reset: the offsets are those of the plan', await committed())
    await page.getByRole('link', { name: 'Undo' }).click()
    await page.locator('#dialog').getByRole('button', { name: 'Reset 3 partitions' }).click()
    await page.waitForFunction((was) => document.querySelector('#p tbody tr td.num:nth-child(3)')?.textContent.trim() === was, before)
    claim(true, 'group reset: it is taken back by one click')
    await page.goto(origin + '/groups/billing')
    claim(await page.getByRole('button', { name: 'Reset offsets' }).isDisabled(), 'group reset: with members it cannot be done')
    claim(await page.getByText('Stop them first').first().isVisible(), 'group reset: and the page says why')
  })
}

// schemaEvolution checks a schema that does not fit, mends it, registers it, compares.
export async function schemaEvolution (page, origin) {
  const subject = `walk-${Date.now()}-value`
  const schema = (fields) => JSON.stringify({ type: 'record', name: 'Walk', fields })
  const id = { name: 'id', type: 'long' }
  await story('schema evolution', async () => {
    await page.goto(origin + '/schemas')
    await page.getByRole('link', { name: 'New schema' }).click()
    await page.getByLabel('Subject', { exact: true }).first().fill(subject)
    await page.getByLabel('Schema', { exact: true }).fill(schema([id]))
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('It would be the first version').waitFor()
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    await page.getByText(`Registered ${subject} version 1`).waitFor()
    claim(true, 'schema evolution: a first version is registered')
    await page.getByRole('link', { name: 'New version' }).click()
    await page.getByLabel('Schema', { exact: true }).fill(schema([{ name: 'id', type: 'string' }]))
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('Not compatible:').waitFor()
    claim(await page.getByText('TYPE_MISMATCH').first().isVisible(), 'schema evolution: why it does not fit is said before it is registered')
    await page.getByLabel('Schema', { exact: true }).fill(schema([id, { name: 'note', type: 'string', default: '' }]))
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('Compatible: it may be registered').waitFor()
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    await page.getByText(`Registered ${subject} version 2`).waitFor()
    await page.getByRole('link', { name: 'what changed' }).first().click()
    claim((await page.locator('table.diff tr.added').count()) > 0, 'schema evolution: the comparison shows what was added')
    await page.getByRole('link', { name: 'Side by side' }).click()
    claim(await page.locator('table.diff.sides').isVisible(), 'schema evolution: and side by side')
  })
}

// message sends a record and finds it again, opens it, and looks for it by its text.
export async function message (page, origin) {
  await story('message', async () => {
    const key = `walk-${Date.now()}`
    await page.goto(origin + '/topics/payments')
    await page.getByRole('link', { name: /^Produce/ }).first().click()
    await page.locator('textarea[name=key]').fill(key)
    await page.locator('textarea[name=value]').fill('{"order":9007199254740993,"walked":true}')
    await page.locator('form').filter({ has: page.locator('textarea[name=value]') }).getByRole('button', { name: 'Produce', exact: true }).click()
    await page.getByText('Produced to partition').first().waitFor()
    claim(true, 'message: a record is sent, and its place is said')
    await page.goto(origin + '/topics/payments?' + new URLSearchParams({ q: key }))
    await page.getByText(key).first().waitFor()
    claim((await page.content()).includes('9007199254740993'), 'message: it is found by its key, its large number as it is')
  })
}

// columnsAndPins adds columns of a person's own to the messages, and has a topic come first.
export async function columnsAndPins (page, origin) {
  await story('columns and pins', async () => {
    await page.goto(origin + '/topics/orders')
    const top = await page.evaluate(() => { window.scrollTo(0, 900); return document.querySelector('table.messages th').getBoundingClientRect().top })
    claim(top === 0, 'tables: their titles stay in sight', String(top))
    await page.getByLabel('Columns').fill('partition + 1; headers')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.waitForURL(/columns=/)
    claim((await page.locator('table.messages thead th').count()) === 8, 'columns: two expressions are two columns more')
    await page.locator('a[data-expand]').first().click()
    await page.waitForFunction(() => document.querySelector('tr.opened > td')?.colSpan === 8)
    claim(true, 'columns: a message that is opened is as wide as the list')
    await page.getByRole('button', { name: 'Pin', exact: true }).click()
    await page.getByRole('button', { name: 'Unpin' }).waitFor()
    await page.goto(origin + '/topics?topics.sort=-name')
    claim((await page.locator('main tbody tr').first().textContent()).startsWith('orders'), 'pins: the topic comes first')
    await page.goto(origin + '/topics/orders')
    await page.getByRole('button', { name: 'Unpin' }).click()
    await page.getByRole('button', { name: 'Pin', exact: true }).waitFor()
    claim(true, 'pins: and no longer')
  })
}

// timeline looks at the broker as it was: an entry, the state as of it, and back.
export async function timeline (page, origin) {
  await story('timeline', async () => {
    await page.goto(origin + '/timeline')
    const first = page.locator('main tbody tr[data-href] a').first()
    const entry = (await first.textContent()).replaceAll(',', '')
    await first.click()
    await page.waitForURL(/\/timeline\/entries\/\d+/)
    claim(true, 'timeline: an entry is opened')
    await page.goto(`${origin}/topics?at=${entry}`)
    await page.getByText('read-only').first().waitFor()
    claim((await page.locator('main').textContent()).includes('orders'), `timeline: the topics as of entry ${entry}`)
    await page.goto(`${origin}/groups?at=2`)
    claim(!(await page.locator('main').textContent()).includes('search-index'), 'timeline: as of its second entry there was no group')
    await page.getByRole('link', { name: 'Back to now' }).click()
    await page.waitForURL((url) => !url.searchParams.has('at'))
    claim(true, 'timeline: and there is a way back')
  })
}

// hostilePages looks at the pages that show all hostile texts, and searches for some.
export async function hostilePages (page, origin, faults, injected, all, texts) {
  await story('hostile texts', async () => {
    for (const at of ['/groups?size=1000', '/schemas?size=1000', '/security/quotas?size=1000', '/security?size=1000', '/security/users', '/topics/hostile', '/topics/hostile?limit=500&from=oldest', '/topics/hostile/consumers?consumers.size=1000', '/timeline?limit=500', '/traffic', '/groups/audit', '/groups/word-count']) {
      const answer = await page.goto(origin + at)
      if (answer.status() === 404 && at.startsWith('/topics/')) continue
      claim((await injected(page)).length === 0, `hostile texts: ${at} shows them as text`, (await injected(page)).join(' '))
    }
    for (const text of texts) {
      for (const at of ['/groups?q=', '/schemas/new?subject=', '/groups/search-index/reset?strategy=offset&value=', '/security/allowed?principal=', '/broker?q=', '/topics/orders?q=']) {
        await page.goto(origin + at + encodeURIComponent(text))
        const made = await injected(page)
        if (made.length) claim(false, `hostile texts: ${at}${text}`, made.join(' '))
      }
    }
    claim(!faults.some((f) => /hostile text ran|dialog:|went to/.test(f)), `hostile texts: ${texts.length} of them in addresses, ${all.length} in every field: none ran`)
  })
}

// withoutScripts reads the pages in a browser that runs none.
export async function withoutScripts (browser, origin) {
  await story('without JavaScript', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    for (const [at, text] of [['/', 'Overview'], ['/topics', 'orders'], ['/groups/search-index', 'payments'], ['/schemas/subjects/orders-value', 'customer'], ['/broker?size=500', 'log.retention'], ['/groups/search-index/reset?strategy=earliest', 'Reset 3 partitions']]) {
      await page.goto(origin + at)
      claim((await page.locator('main').textContent()).includes(text), `without JavaScript: ${at} can be read`)
    }
    await context.close()
  })
}
