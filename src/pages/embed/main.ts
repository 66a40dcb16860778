import { messageOf, source, version } from './protocol.js'
import { relayWallets } from './relay.js'

type Listener = (message: Readonly<Record<string, unknown>>) => void

export interface MountOptions {
  /** `config.embedUrl` of POST /sdk/init, asked for by your backend. */
  readonly embedUrl: string
  /** Names the frame for readers; default "Tip". */
  readonly title?: string
  readonly onReady?: Listener
  readonly onStarted?: Listener
  readonly onSubmitted?: Listener
  /** A hint for the page; what counts is GET /sdk/events. */
  readonly onCompleted?: Listener
  readonly onFailed?: Listener
  /** The session is over or a further tip is wanted: get a new embedUrl and call `open` with it. */
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

/** Shows a checkout in an element, fits its height, lends it this page's wallets and tells what happens in it. */
export function mount(element: Element, options: MountOptions): Mounted {
  const frame = document.createElement('iframe')
  let origin = ''
  const open = (embedUrl: string): void => {
    origin = new URL(embedUrl).origin
    frame.src = embedUrl
  }
  const hear = (event: MessageEvent): void => {
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
  addEventListener('message', hear)
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
      removeEventListener('message', hear)
      frame.remove()
    },
  }
}

const eventOf: Readonly<Record<string, string>> = {
  onReady: 'ready',
  onStarted: 'started',
  onSubmitted: 'submitted',
  onCompleted: 'completed',
  onFailed: 'failed',
  onExpired: 'expired',
}

/**
 * `<tip-checkout embed-url="…">`: the same as an element. Its events are `ready`, `started`, `submitted`, `completed`,
 * `failed` and `expired`, each with the message as `detail`; setting `embed-url` again shows another session.
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
    const told = Object.entries(eventOf).map(([option, type]) => [
      option,
      (detail: unknown) => this.dispatchEvent(new CustomEvent(type, { detail })),
    ])
    this.#mounted = mount(this, { embedUrl, title: this.title || 'Tip', ...Object.fromEntries(told) })
  }

  disconnectedCallback(): void {
    this.#mounted?.destroy()
    this.#mounted = undefined
  }
}

if (!customElements.get('tip-checkout')) customElements.define('tip-checkout', TipCheckout)
