import { messageOf, source, version } from '../embed/protocol.js'

/** The origin of the embedding page, as the service wrote it into the HTML. Messages go to no other origin. */
const parentOrigin = document.documentElement.dataset['parentOrigin'] ?? ''

export const framed = window.parent !== window

export function postToParent(
  message: { readonly type: string; readonly height?: number },
  transfer: Transferable[] = [],
): void {
  if (framed) window.parent.postMessage({ source, v: version, ...message }, parentOrigin, transfer)
}

/** Tells the frame that opened this window that the tip continues here. */
export function postToOpener(step: string): void {
  const opener: Window | null = window.opener
  opener?.postMessage({ source, v: version, type: 'handover', step }, location.origin)
}

/** Listens to the embedding page and to the windows that this page opened. Other senders are ignored. */
export function listenToWindows(listeners: {
  readonly theme: (theme: 'dark' | 'light') => void
  readonly handover: () => void
}): void {
  addEventListener('message', ({ data, source: from, origin }) => {
    const message = messageOf(data)
    if (message === undefined) return
    const theme = message['theme']
    const fromParent = framed && from === window.parent && origin === parentOrigin
    if (fromParent && message.type === 'theme' && (theme === 'dark' || theme === 'light'))
      listeners.theme(theme)
    if (origin === location.origin && from !== window && message.type === 'handover') listeners.handover()
  })
}

/** The height in px that the frame needs for this element. */
export const heightOf = (wrapper: Element): number => Math.ceil(wrapper.getBoundingClientRect().height)

/** Posts each new height to the embedding page. Measures the wrapper, because a document's height never shrinks. */
export function reportHeight(wrapper: Element): void {
  new ResizeObserver(() => postToParent({ type: 'resize', height: heightOf(wrapper) })).observe(wrapper)
}
