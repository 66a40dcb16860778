import { Keypair } from '@solana/web3.js'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { solMint, usdc } from '../../src/kernel/tokens.js'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkScreen } from '../helpers/browser/check-accessibility.js'
import { type DashboardPage, openDashboard } from '../helpers/browser/dashboard.js'
import { layoutShifts } from '../helpers/browser/layout-shifts.js'
import { assertBecomes, clickButton, heading, tabTo, waitForHeading } from '../helpers/browser/on-page.js'
import { walletConfig } from '../helpers/browser/test-wallet-config.js'
import type { Person } from '../helpers/make/creators.js'
import { creatorInCustody, usdcOnChain } from '../helpers/make/custody.js'
import { sendTipsTo } from '../helpers/make/payout-wallets.js'
import { stepUpCode } from '../helpers/make/sign-in/emailed-codes.js'
import {
  addWallet,
  createTaker,
  prepared,
  readTransfer,
  signed,
  tipToken,
} from '../helpers/make/take-outs.js'
import { startWorkerLoops } from '../helpers/servers/worker-loops.js'
import { until } from '../helpers/until.js'
import { installTestWallet } from './test-wallet.js'

/** Tokens leave custody for the creator's own wallet. A blockhash lives a minute, as on the real network. */
// A take-out's request waits for the worker that the test starts.
const open = useBrowser(test, { slotMs: 400, env: { WITHDRAW_WAIT_MS: '20000' } })

function startSigning(t: ExecutionContext): void {
  const { world } = open()
  Object.assign(process.env, world.env)
  const loops = startWorkerLoops(world.services, ['take-outs'])
  t.teardown(() => loops.stop())
}

/** Opens the screen in a browser that has this wallet. */
async function openWithWallet(person: Person, keypair: Keypair): Promise<DashboardPage> {
  const { world } = open()
  const opened = await openDashboard(open(), person.session, '/docs')
  const config = walletConfig({ keypair, wallet: keypair.publicKey.toBase58() }, world.sandbox.url, {
    features: ['signTransaction', 'signMessage'],
  })
  await opened.context.addInitScript(installTestWallet, config)
  await opened.page.goto(`${world.url}/dashboard/take-out`)
  return opened
}

const setMode = (page: Page, mode: string): Promise<void> => page.evaluate(`self.testWallet.mode = '${mode}'`)
const signButton = /^\s*Sign with Test Wallet$/

test.serial('a wallet is added and USDC taken out to it by keyboard, though an answer is lost', async (t) => {
  startSigning(t)
  const { world } = open()
  const ada = await creatorInCustody(world, 5_000_000n)
  const holder = Keypair.generate()
  const own = holder.publicKey.toBase58()
  requestAirdrop(world.sandbox.chain, own, 1_000_000_000n)
  const { page, context, faults } = await openWithWallet(ada, holder)
  const { keyboard } = page
  await heading(page, 'Your own wallet').waitFor()
  await checkScreen(t, page, 'dash-take-out-wallet')
  await tabTo(t, page, /^\s*Use Test Wallet$/)
  await keyboard.press('Enter')
  await page.getByText(`Your own wallet becomes ${own}.`).waitFor()
  await checkScreen(t, page, 'dash-take-out-step-up')
  const enterCode = async (): Promise<void> => {
    await assertBecomes(t, () => page.evaluate('document.activeElement.name'), 'code')
    await keyboard.type(await stepUpCode(world, ada.email))
  }
  await enterCode()
  await heading(page, 'What do you take out?').waitFor()
  await checkScreen(t, page, 'dash-take-out')

  await tabTo(t, page, 'amount')
  await keyboard.type('5.5')
  await keyboard.press('Enter')
  await page.getByText('This amount is above the 5 USDC that can be taken out.').waitFor()
  await page.getByRole('textbox', { name: 'Amount in USDC' }).fill('2.50')
  await keyboard.press('Enter')
  await page.getByText('Take out 2.5 USDC?').waitFor()
  await enterCode()
  await waitForHeading(page, 'Sign for 2.5 USDC')
  await page.getByText(/^0\.0000\d+ SOL, which this wallet pays/).waitFor()
  await page.getByText('and 0.00203928 SOL once').waitFor()
  await page.getByText(own).waitFor()
  await setMode(page, 'reject')
  await tabTo(t, page, signButton)
  await keyboard.press('Enter')
  await page.getByText('You declined it in your wallet. Nothing has moved.').waitFor()
  await setMode(page, 'approve')
  let lost = 0
  await page.route('**/sign', async (route) => {
    const answer = await route.fetch()
    lost += 1
    return lost === 1 ? route.abort('connectionreset') : route.fulfill({ response: answer })
  })
  await keyboard.press('Enter')
  await waitForHeading(page, '2.5 USDC arrived')
  t.is(lost, 2)
  await checkScreen(t, page, 'dash-take-out-arrived')
  await page.reload()
  await heading(page, '2.5 USDC arrived').waitFor()
  world.sandbox.chain.advance(40)
  await heading(page, '2.5 USDC taken out').waitFor()
  await page.getByRole('button', { name: /^2\.5 USDC.*Taken out/ }).waitFor()
  await checkScreen(t, page, 'dash-take-out-final')
  t.is(usdcOnChain(world, own), 2_500_000n)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('a take-out goes on in another tab, and each fault has its remedy', async (t) => {
  startSigning(t)
  const { world } = open()
  const ada = await createTaker(world, 5_000_000n)
  await tipToken(world, ada, 'SOL', 3_000_000_000n)
  const late = await prepared(world, ada, solMint, '1.5')
  await addWallet(world, ada)
  const other = await prepared(world, ada, usdc.mint, '1')
  const { page, context, faults } = await openWithWallet(ada, ada.holder)
  await page.getByText('5 USDC', { exact: true }).waitFor()
  t.deepEqual(await layoutShifts(page), [])
  await page.getByRole('button', { name: /^1 USDC/ }).click()
  await clickButton(page, signButton)
  await page.getByText('Your wallet is on another account.').waitFor()
  t.is((await readTransfer(world, ada, other.id))?.signature, null)
  await checkScreen(t, page, 'dash-take-out-account')
  await page.goto(`${world.url}/dashboard/take-out`)
  await page.getByRole('radio', { name: '5 USDC' }).waitFor()
  await checkScreen(t, page, 'dash-take-out-tokens')

  world.sandbox.chain.advance(200)
  await page.goto(`${world.url}/dashboard/take-out?transfer=${late.id}`)
  await world
    .db('wallet_transfers')
    .whereNotNull('due_at')
    .update({ due_at: new Date(0) })
  await heading(page, '1.5 SOL: not signed in time').waitFor()
  await checkScreen(t, page, 'dash-take-out-late')
  await clickButton(page, 'Prepare it again')
  await assertBecomes(t, () => page.getByRole('textbox', { name: 'Amount in SOL' }).inputValue(), '1.5')
  t.true(await page.getByRole('radio', { name: '3 SOL' }).isChecked())
  await page.getByRole('textbox', { name: 'Amount in SOL' }).fill('2.9999')
  await page.keyboard.press('Enter')
  await page.getByText(/^This amount must leave nothing of 3 SOL, or at least 0\.00089088 SOL\.$/).waitFor()
  await checkScreen(t, page, 'dash-take-out-fault')

  const holder = await addWallet(world, ada)
  const one = await signed(world, { ...ada, holder }, solMint, '1')
  await page.getByRole('textbox', { name: 'Amount in SOL' }).fill('1')
  await page.keyboard.press('Enter')
  await page.getByText('A take-out of this token is on its way already.').waitFor()
  await page.getByRole('button', { name: /^1 SOL.*On its way/ }).click()
  await heading(page, '1 SOL arrived').waitFor()
  world.sandbox.chain.advance(40)
  await heading(page, '1 SOL taken out').waitFor()
  await until('the service knows', async () => (await readTransfer(world, ada, one.id))?.status === 'final')

  await sendTipsTo(world, ada, 'payout_wallet')
  const straight = page.getByText('New crypto tips go straight to your own wallet.')
  for (const screen of ['/withdraw', '/take-out', '']) {
    await page.goto(`${world.url}/dashboard${screen}`)
    await straight.waitFor()
  }
  await checkScreen(t, page, 'dash-home-straight')
  t.deepEqual(faults, [])
  await context.close()
})
