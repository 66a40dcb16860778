import { messageOf, source, version } from './protocol.js'
import { relayWallets } from './relay.js'

type Listener = (message: Readonly<Record<string, unknown>>) => void

export interface MountOptions {
  /** `config.embedUrl` from POST /sdk/init, which your backend calls. */
  readonly embedUrl: string
  /** Title of the frame for screen readers; default "Tip". */
  readonly title?: string
  readonly onReady?: Listener
  readonly onStarted?: Listener
  readonly onSubmitted?: Listener
  /** For display only. Proof of a tip is GET /sdk/events, read by your backend. */
  readonly onCompleted?: Listener
  readonly onFailed?: Listener
  /** The session is over, or the supporter wants to tip again: get a new embedUrl and call `open` with it. */
  readonly onExpired?: Listener
  readonly onResize?: Listener
}

export interface Mounted {
  /** Shows another session in the same place. */
  open(embedUrl: string): void
  setTheme(theme: 'dark' | 'light'): void
  destroy(): void
}

const listeners: Readonly<Record<string, keyof MountOptions>> = {
  ready: 'onReady',
  resize: 'onResize',
  'tip.started': 'onStarted',
  'tip.submitted': 'onSubmitted',
  'tip.completed': 'onCompleted',
  'tip.failed': 'onFailed',
  'tip.expired': 'onExpired',
}

/** Shows a checkout in an element. Follows its height, relays this page's wallets to it, and calls the listeners. */
export function mount(element: Element, options: MountOptions): Mounted {
  const frame = document.createElement('iframe')
  let origin = ''
  const open = (embedUrl: string): void => {
    origin = new URL(embedUrl).origin
    frame.src = embedUrl
  }
  const receive = (event: MessageEvent): void => {
    if (event.source !== frame.contentWindow || event.origin !== origin) return
    const message = messageOf(event.data)
    if (message === undefined) return
    const { type, height } = message
    if ((type === 'resize' || type === 'ready') && typeof height === 'number')
      frame.style.height = `${height}px`
    if (type === 'hello' && event.ports[0] !== undefined) relayWallets(event.ports[0])
    const listener = options[listeners[type] ?? 'embedUrl']
    if (typeof listener === 'function') listener(message)
  }
  addEventListener('message', receive)
  frame.title = options.title ?? 'Tip'
  frame.allow = 'clipboard-write'
  Object.assign(frame.style, {
    width: '100%',
    maxWidth: '480px',
    height: '640px',
    border: '0',
    colorScheme: 'auto',
  })
  open(options.embedUrl)
  element.append(frame)
  return {
    open,
    setTheme: (theme) =>
      frame.contentWindow?.postMessage({ source, v: version, type: 'theme', theme }, origin),
    destroy() {
      removeEventListener('message', receive)
      frame.remove()
    },
  }
}

const dispatched = ['Ready', 'Started', 'Submitted', 'Completed', 'Failed', 'Expired'] as const

/**
 * `<tip-checkout embed-url="…">` does the same as `mount`. Its events are `ready`, `started`, `submitted`, `completed`,
 * `failed` and `expired`, each with the message as `detail`. A new `embed-url` shows another session.
 */
class TipCheckout extends HTMLElement {
  static observedAttributes = ['embed-url']
  #mounted: Mounted | undefined

  connectedCallback(): void {
    this.attributeChangedCallback()
  }

  attributeChangedCallback(): void {
    const embedUrl = this.getAttribute('embed-url')
    if (embedUrl === null || !this.isConnected) return
    if (this.#mounted !== undefined) {
      this.#mounted.open(embedUrl)
      return
    }
    this.style.display ||= 'block'
    const dispatchers = dispatched.map((name) => [
      `on${name}`,
      (detail: unknown) => this.dispatchEvent(new CustomEvent(name.toLowerCase(), { detail })),
    ])
    this.#mounted = mount(this, { embedUrl, title: this.title || 'Tip', ...Object.fromEntries(dispatchers) })
  }

  disconnectedCallback(): void {
    this.#mounted?.destroy()
    this.#mounted = undefined
  }
}

if (!customElements.get('tip-checkout')) customElements.define('tip-checkout', TipCheckout)
