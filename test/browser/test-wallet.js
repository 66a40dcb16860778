/**
 * A Wallet Standard wallet that uses only WebCrypto. It runs in every frame before the page's own scripts. Tests control it
 * through `self.testWallet`: `mode` sets what it does when it is asked to connect or sign.
 */
export function installTestWallet(config) {
  if (!self.crypto?.subtle || (config.topOnly && self !== self.top)) return
  const switches = { mode: 'approve', chains: config.chains, asked: 0, ...config.switches }
  self.testWallet = switches
  let accounts = []
  const listeners = []
  const key = crypto.subtle.importKey('jwk', config.jwk, { name: 'Ed25519' }, false, ['sign'])
  const signs = config.features.map((name) => `solana:${name}`)
  const error = (code, message) => Object.assign(new Error(message), { code })

  async function ask() {
    switches.asked += 1
    if (switches.mode === 'reject') throw error(4001, 'User rejected the request.')
    if (switches.mode === 'busy') throw error(-32002, 'A request is already open.')
    if (switches.mode === 'broken') throw error(-32603, '<img src=x onerror=alert(1)> Something went wrong')
    if (switches.mode === 'hang')
      await new Promise((resolve) => Object.assign(switches, { release: resolve }))
  }
  /** Some wallets add guard instructions, so the signed transaction differs from the issued one. */
  async function guarded(transaction) {
    const issued = btoa(String.fromCharCode(...transaction))
    const altered = atob(await self.testWalletGuard(issued))
    return Uint8Array.from(altered, (character) => character.charCodeAt(0))
  }
  async function signed(issued) {
    const transaction = switches.mode === 'tamper' ? await guarded(issued) : issued
    const count = transaction[0]
    const message = transaction.slice(1 + 64 * count)
    const signature = new Uint8Array(await crypto.subtle.sign('Ed25519', await key, message))
    const output = transaction.slice()
    if (switches.mode === 'unsigned') return output
    output.set(signature, 1)
    return output
  }
  async function send(bytes) {
    const body = { jsonrpc: '2.0', id: 1, method: 'sendTransaction' }
    const params = [btoa(String.fromCharCode(...bytes)), { encoding: 'base64', skipPreflight: true }]
    await fetch(config.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, params }),
    })
  }
  const features = {
    'standard:connect': {
      version: '1.0.0',
      async connect() {
        await ask()
        const { address } = config
        const publicKey = Uint8Array.from(config.publicKey)
        accounts = [Object.freeze({ address, publicKey, chains: switches.chains, features: signs })]
        return { accounts }
      },
    },
    'standard:events': {
      version: '1.0.0',
      on(_, listener) {
        listeners.push(listener)
        return () => undefined
      },
    },
    'solana:signTransaction': {
      version: '1.0.0',
      supportedTransactionVersions: ['legacy', 0],
      async signTransaction({ transaction }) {
        await ask()
        return [{ signedTransaction: await signed(transaction) }]
      },
    },
    'solana:signMessage': {
      version: '1.0.0',
      async signMessage({ message }) {
        await ask()
        const signature = new Uint8Array(await crypto.subtle.sign('Ed25519', await key, message))
        return [{ signedMessage: message, signature }]
      },
    },
    'solana:signAndSendTransaction': {
      version: '1.0.0',
      supportedTransactionVersions: ['legacy', 0],
      async signAndSendTransaction({ transaction }) {
        if (switches.mode !== 'lost') await ask()
        if (switches.mode === 'another') return [{ signature: Uint8Array.from(switches.signature) }]
        const output = await signed(transaction)
        await send(output)
        if (switches.mode === 'lost') throw error(-32603, 'No answer')
        return [{ signature: output.slice(1, 65) }]
      },
    },
  }
  const offered = ['standard:connect', 'standard:events', ...signs]
  const wallet = {
    version: '1.0.0',
    name: config.name,
    icon: config.icon,
    chains: ['solana:mainnet', 'solana:devnet'],
    get accounts() {
      return accounts
    },
    features: Object.fromEntries(offered.map((name) => [name, features[name]])),
  }
  switches.forgetAccount = () => {
    accounts = []
    for (const listener of listeners) listener({ accounts })
  }
  const register = (api) => api.register(wallet)
  class RegisterWallet extends Event {
    constructor() {
      super('wallet-standard:register-wallet')
    }
    get detail() {
      return register
    }
  }
  const introduce = () => {
    self.dispatchEvent(new RegisterWallet())
    self.addEventListener('wallet-standard:app-ready', ({ detail }) => register(detail))
  }
  if (config.lateMs > 0) self.setTimeout(introduce, config.lateMs)
  else introduce()
}
