import { messageOf, source, version } from '../../embed/protocol.js'

/** The page around this one, as the service told it: the only origin that is ever spoken to. */
const parentOrigin = document.documentElement.dataset['parentOrigin'] ?? ''

/** Shown inside another page. */
export const framed = window.parent !== window

/** Tells the embedding page something; a window of its own has nobody to tell. */
export function tellParent(
  message: { readonly type: string; readonly height?: number },
  transfer: Transferable[] = [],
): void {
  if (framed) window.parent.postMessage({ source, v: version, ...message }, parentOrigin, transfer)
}

/** Tells the frame that opened this window that the tip goes on here. */
export function tellOpener(step: string): void {
  const opener: Window | null = window.opener
  opener?.postMessage({ source, v: version, type: 'handover', step }, location.origin)
}

/** Hears the embedding page, and windows that were opened from here. Everybody else is ignored. */
export function hearOthers(heard: {
  readonly theme: (theme: 'dark' | 'light') => void
  readonly handover: () => void
}): void {
  addEventListener('message', ({ data, source: from, origin }) => {
    const message = messageOf(data)
    if (message === undefined) return
    const theme = message['theme']
    const fromParent = framed && from === window.parent && origin === parentOrigin
    if (fromParent && message.type === 'theme' && (theme === 'dark' || theme === 'light')) heard.theme(theme)
    if (origin === location.origin && from !== window && message.type === 'handover') heard.handover()
  })
}

/** What a frame around this wrapper needs, px. */
export const heightOf = (wrapper: Element): number => Math.ceil(wrapper.getBoundingClientRect().height)

/** Keeps the embedding page told of this page's height: of the wrapper, because a document never shrinks. */
export function reportHeight(wrapper: Element): void {
  new ResizeObserver(() => tellParent({ type: 'resize', height: heightOf(wrapper) })).observe(wrapper)
}
