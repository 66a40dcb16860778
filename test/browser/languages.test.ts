import test, { type ExecutionContext } from 'ava'
import type { Page, Route } from 'playwright-core'
import { mintTokens, requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { usdc } from '../../src/kernel/tokens.js'
import type { CheckoutWords } from '../../src/pages/i18n/checkout.en.js'
import { words as french } from '../../src/pages/i18n/checkout.fr.js'
import { words as pidgin } from '../../src/pages/i18n/checkout.pcm.js'
import { prepareVisit, useBrowser, type Visit, type VisitOptions } from '../helpers/browser/browser.js'
import { axeViolations } from '../helpers/browser/check-accessibility.js'
import { chooseRadio, clickButton, heading } from '../helpers/browser/on-page.js'
import {
  expireFiatIntent,
  failCharge,
  payFiatIntent,
  settleIntentNow,
} from '../helpers/make/fiat/fiat-tips.js'

const open = useBrowser(test)
/** The checkout in the languages other than English, whose states crypto-states and naira-states check. */

const languages = { fr: french, pcm: pidgin }
type Name = keyof typeof languages

interface Reading extends Visit {
  readonly words: CheckoutWords
  /** Checks the state that is shown. */
  readonly check: (state: string) => Promise<void>
  readonly submit: () => Promise<void>
}

async function openIn(t: ExecutionContext, language: Name, options: VisitOptions): Promise<Reading> {
  const { world } = open()
  const one = await prepareVisit(open(), { viewport: { width: 360, height: 740 }, ...options })
  await one.context.addCookies([{ name: 'lang', value: language, url: world.url }])
  const { page } = one
  await page.goto(one.embedUrl)
  const words = languages[language]
  await heading(page, words.title('Ada Lovelace')).waitFor()
  return {
    ...one,
    words,
    check: async (state) => {
      t.deepEqual(await axeViolations(page.mainFrame()), [], `${state} in ${language}`)
    },
    submit: () => page.locator('button[type=submit]').click(),
  }
}

type Answer = (route: Route) => Promise<void>

/** Holds these requests. Returns what answers those that are held; later ones go on. */
async function hold(page: Page, requests: string): Promise<(answer: Answer) => Promise<void>> {
  const held: Route[] = []
  let isOver = false
  await page.route(requests, (route) => (isOver ? route.continue() : void held.push(route)))
  return async (answer) => {
    isOver = true
    await Promise.all(held.map(answer))
  }
}

for (const language of ['fr', 'pcm'] as const) {
  test.serial(`a crypto tip is accessible in ${language}, whatever happens on the way`, async (t) => {
    const { sandbox } = open().world
    const { page, words, check, submit, supporter, faults, context } = await openIn(t, language, {
      tokens: [],
    })
    const setMode = (mode: string) => page.evaluate(`testWallet.mode = '${mode}'`)
    const wallet = 'Test Wallet'
    await check('the form')
    await chooseRadio(page, words.otherAmount)
    const amount = page.getByRole('textbox', { name: words.amountLegend.USD })
    await amount.fill('0')
    await submit()
    await page.locator(':focus[aria-invalid=true]').waitFor()
    await check('a wrong amount')
    await amount.fill('5')
    await submit()
    await heading(page, words.chooseWallet).waitFor()
    await check('the wallets')
    await clickButton(page, words.usePhone)
    await page.getByRole('img').waitFor()
    await check('the phone')
    await clickButton(page, words.back)
    await submit()

    await setMode('hang')
    await clickButton(page, wallet)
    await heading(page, words.connecting(wallet)).waitFor()
    await check('connecting')
    await clickButton(page, words.cancel)
    await page.evaluate('testWallet.release()')
    await setMode('busy')
    await clickButton(page, wallet)
    await heading(page, words.busy(wallet)).waitFor()
    await check('a busy wallet')
    await setMode('approve')
    await page.evaluate(`testWallet.chains = ['solana:devnet']`)
    await clickButton(page, words.tryAgain)
    await heading(page, words.wrongNetwork(wallet)).waitFor()
    await check('another network')
    await page.evaluate(`testWallet.chains = ['solana:mainnet']`)

    const answer = await hold(page, '**/sdk/tip')
    await clickButton(page, words.tryAgain)
    await page.getByText(words.pricing).first().waitFor()
    await check('the price is read')
    await answer((route) => route.fulfill({ status: 503 }))
    await heading(page, words.noAnswer).waitFor()
    await check('no answer')
    await clickButton(page, words.tryAgain)
    await heading(page, words.notEnough('USDC')).waitFor()
    await check('too little of the token')
    mintTokens(sandbox.chain, supporter.wallet, usdc.mint, 100_000_000n)
    sandbox.chain.setAccount(supporter.wallet, { lamports: 0n })
    await clickButton(page, words.otherWallet)
    await clickButton(page, wallet)
    await heading(page, words.needsSol).waitFor()
    await check('too little SOL')
    requestAirdrop(sandbox.chain, supporter.wallet, 1_000_000_000n)
    await clickButton(page, words.tryAgain)
    await heading(page, words.review).waitFor()
    await check('the review')

    await setMode('reject')
    await clickButton(page, words.approveIn(wallet))
    await page.getByText(words.declined).waitFor()
    await check('declined')
    await setMode('hang')
    await clickButton(page, words.tryAgain)
    await page.getByText(words.approvingMore).first().waitFor()
    await check('approving')
    await clickButton(page, words.cancel)
    await page.evaluate('testWallet.release()')
    await setMode('approve')
    sandbox.chain.advance(400)
    await clickButton(page, words.approveIn(wallet))
    await heading(page, words.expired).waitFor()
    await check('an expired price')
    await clickButton(page, words.newPrice)
    await setMode('unsigned')
    await clickButton(page, words.approveIn(wallet))
    await heading(page, words.notSent).waitFor()
    await check('not sent')
    await setMode('approve')
    await clickButton(page, words.tryAgain)
    const status = await hold(page, '**/sdk/intents/**')
    await clickButton(page, words.approveIn(wallet))
    await heading(page, words.sent).waitFor()
    await check('sent')
    await status((route) => route.continue())
    await page.locator('.outcome--good').waitFor()
    await check('thanks')
    t.deepEqual(faults, [])
    await context.close()
  })

  test.serial(`a naira tip is accessible in ${language}, whatever happens on the way`, async (t) => {
    const { world } = open()
    const { page, words, check, submit, faults, context } = await openIn(t, language, { wallet: 'none' })
    await submit()
    await heading(page, words.noWallet).waitFor()
    await check('no wallet')
    await clickButton(page, words.payInNaira)
    await page.getByRole('checkbox').check()
    await page.getByText(words.anonymousMore('Ada Lovelace')).waitFor()
    await check('anonymous')
    await page.getByRole('checkbox').uncheck()
    const email = page.getByRole('textbox', { name: words.emailField })
    await email.fill('tobi@example')
    await submit()
    await page.getByText(words.emailFault).waitFor()
    await check('a wrong e-mail address')
    await email.fill('')
    await chooseRadio(page, words.wayTransfer)
    world.fiat.fiatpay.faults.setMode({ charges: 'down' })
    await submit()
    await heading(page, words.providerDown).waitFor()
    await check('no provider')
    world.fiat.fiatpay.faults.reset()

    /** Starts a payment with a press, waits for its instructions, and returns its id. */
    const start = async (press: () => Promise<void>): Promise<string> => {
      const answered = page.waitForResponse('**/payments/fiat/intent')
      await press()
      const { intentId } = await (await answered).json()
      await page.locator('dl.facts').waitFor()
      return intentId
    }
    const settle = async (intentId: string): Promise<void> => {
      await settleIntentNow(world, intentId)
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    }
    const first = await start(() => clickButton(page, words.tryAgain))
    await check('the instructions')
    await clickButton(page, words.leave)
    await page.getByRole('button', { name: words.returnToLeft }).waitFor()
    await check('a payment that is still open')
    await clickButton(page, words.returnToLeft)
    await clickButton(page, words.markSent)
    await heading(page, words.searching).waitFor()
    await check('the transfer is looked for')
    await expireFiatIntent(world, first)
    await settle(first)
    await heading(page, words.late).waitFor()
    await check('the time is over')
    payFiatIntent(world, first, 500_000)
    await settle(first)
    await page.getByRole('link', { name: words.decideShort }).waitFor()
    await check('too little arrived')

    await clickButton(page, words.startAgain)
    const second = await start(submit)
    failCharge(world, second)
    await settle(second)
    await heading(page, words.nairaFailed).waitFor()
    await check('not completed')
    await clickButton(page, words.startAgain)
    const third = await start(submit)
    payFiatIntent(world, third)
    await settle(third)
    await page.locator('.outcome--good').waitFor()
    await check('thanks')

    await clickButton(page, words.tipAgain)
    await chooseRadio(page, words.wayCheckout)
    await submit()
    await heading(page, words.finishInOtherTab).waitFor()
    await check('the other tab')
    t.deepEqual(faults, [])
    await context.close()
  })
}
