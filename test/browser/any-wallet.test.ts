import test from 'ava'
import { createTippable } from '../actions/support.js'
import { prepareVisit, useBrowser } from '../helpers/browser/browser.js'
import { assertBecomes } from '../helpers/browser/on-page.js'
import { listTips } from '../helpers/make/tips.js'

const open = useBrowser(test)

/** The page of a blink's client on another site. It knows the Wallet Standard and the Actions specification, and nothing of us. */
const client = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Feed</title><body><button>Tip</button><p></p>
<script type="module">
  const wallets = []
  const register = (wallet) => wallets.push(wallet)
  addEventListener('wallet-standard:register-wallet', ({ detail }) => detail({ register }))
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: { register } }))
  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  function base58(signature) {
    let number = signature.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
    let text = ''
    for (; number > 0n; number /= 58n) text = alphabet[Number(number % 58n)] + text
    return '1'.repeat(signature.findIndex((byte) => byte !== 0)) + text
  }
  async function call(url, body) {
    const answer = await fetch(url, {
      method: body ? 'POST' : 'GET',
      headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache', 'X-Accept-Action-Version': '2.4' },
      body: body && JSON.stringify(body),
    })
    if (answer.headers.get('X-Action-Version') !== '2.4') throw new Error('the version cannot be read')
    const json = await answer.json()
    if (!answer.ok) throw new Error(json.message)
    return json
  }
  async function tip() {
    const address = new URL(location.hash.slice(1))
    const { links } = await call(address)
    const [wallet] = wallets
    const { accounts: [account] } = await wallet.features['standard:connect'].connect()
    const action = new URL(links.actions[0].href, address)
    const made = await call(action, { account: account.address })
    const [{ signature }] = await wallet.features['solana:signAndSendTransaction'].signAndSendTransaction({
      account, chain: 'solana:mainnet', transaction: bytes(made.transaction),
    })
    const next = new URL(made.links.next.href, address)
    return call(next, { account: account.address, signature: base58(signature) })
  }
  document.querySelector('button').onclick = () =>
    tip().then(({ description }) => description, String).then((text) => { document.querySelector('p').textContent = text })
</script>`

test.serial('a wallet of the Wallet Standard tips from a blink on another site', async (t) => {
  const { world, site } = open()
  const { handle, wallet } = await createTippable(world)
  const one = await prepareVisit(open())
  await one.page.goto(`${site.serve(client)}#${world.url}/actions/tip/${handle}`)
  await one.page.getByRole('button', { name: 'Tip' }).click()
  await one.page.getByText(/^Your tip to Ada Lovelace is sent\./).waitFor()
  await assertBecomes(t, async () => (await listTips(world, wallet))[0]?.status, 'confirmed')
  const [tip] = await listTips(world, wallet)
  t.like(tip, { amount: 2, tokenSymbol: 'USDC', sender: one.supporter.wallet })
  t.deepEqual(one.faults, [])
  await one.context.close()
})
