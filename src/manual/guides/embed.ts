import { type Chapter, code, guide, heading, list, note, table, text } from '../blocks.js'

/** The embed protocol, version 1. */
export function embed(base: string): Chapter {
  return {
    ...guide(
      'embed',
      'Embed and messages',
      text(
        'The checkout is a page of this service in an iframe of your page. Its address is `config.embedUrl` of [POST /sdk/init](#post-sdk-init). Only the site that the session was opened for may frame it: every page around the checkout must belong to that site. The session token is in the fragment of the address: no server sees it. Do not log or share it.',
      ),
      heading('With embed.js'),
      text(
        'The script creates the frame, adjusts its height, and relays the wallets of your page to it, because Phantom and other wallets do not work inside a frame. The wallet then shows your domain.',
      ),
      text(
        '`mount(element, options)` takes `embedUrl`, a `title` for screen readers, and the listeners `onReady`, `onStarted`, `onSubmitted`, `onCompleted`, `onFailed`, `onExpired` and `onResize`, each called with its message below. It returns `open(embedUrl)`, which shows another session in the same place, `setTheme(theme)` and `destroy()`.',
      ),
      text(
        'The element `<tip-checkout>` does the same. It takes `embed-url` and `title`; its events are `ready`, `started`, `submitted`, `completed`, `failed` and `expired`, each with its message as `detail`.',
      ),
      heading('Without embed.js'),
      text(
        'A plain `<iframe title="Tip Ada" allow="clipboard-write" src="<embedUrl>">` works, too. Wallets that do not work in a frame then open the checkout in a new window, or the supporter continues on a phone.',
      ),
      heading('Messages'),
      text(
        'Every message is `{ source: "tipping", v: 1, type, … }`, sent to your exact origin. Check `event.origin` and `event.source`; ignore types and fields you do not know.',
      ),
      table(
        ['`type`', 'What it holds', 'When'],
        ['`ready`', '`height`', 'The checkout is shown.'],
        ['`resize`', '`height`', 'Its height changed, in pixels.'],
        [
          '`tip.started`',
          '`intentId`, `method`, `amountUsd`, `tokenSymbol`',
          'An intent was made. `method` is `wallet`, `card` or `bank_transfer`.',
        ],
        ['`tip.submitted`', '`intentId`, `signature`', 'It was sent to the chain, and is not confirmed yet.'],
        [
          '`tip.completed`',
          '`intentId`, `signature`, `method`, `amount`, `tokenSymbol`, `amountUsd`, `receivedAmount`, `timestamp`',
          'The service has confirmed it.',
        ],
        [
          '`tip.failed`',
          '`intentId`, `code`, `retryable`, `message`; `receivedAmount` if less arrived than the tip asked for',
          'An attempt failed: `rejected`, `expired`, `insufficient_funds`, `no_wallet`, `wrong_network`, `tx_failed`, `fiat_failed` or `unavailable`.',
        ],
        [
          '`tip.expired`',
          '',
          'The session has ended, or the supporter wants to tip again: open a new session and show it.',
        ],
        ['`theme`', '`theme`', 'From you to the frame: `dark` or `light`.'],
      ),
      note('A message is for display only. Deliver only what your server reads from `GET /sdk/events`.'),
      heading('Content security policy of your page'),
      list(
        `\`frame-src ${base}\` for the checkout.`,
        `\`script-src ${base}\` for embed.js, loaded as a module.`,
        `\`connect-src ${base}\` if your page uses the client.`,
        'A sandboxed frame needs `allow-scripts allow-same-origin allow-forms allow-popups`.',
      ),
    ),
    samples: [
      code(
        'html',
        'A whole page, by element',
        '<!doctype html>',
        '<meta charset="utf-8">',
        `<script type="module" src="${base}/embed.js"></script>`,
        '<tip-checkout embed-url="<config.embedUrl>"></tip-checkout>',
      ),
      code(
        'html',
        'By script',
        '<div id="tip"></div>',
        '<script type="module">',
        `  import { mount } from '${base}/embed.js'`,
        '',
        "  mount(document.querySelector('#tip'), {",
        "    embedUrl: '<config.embedUrl>',",
        "    title: 'Tip Ada',",
        '    onCompleted: ({ amountUsd }) => thank(amountUsd),',
        '    onFailed: ({ code }) => console.info(code),',
        '    onExpired: () => location.reload(),',
        '  })',
        '</script>',
      ),
      code(
        'ts',
        'Without embed.js',
        "addEventListener('message', (event) => {",
        `  if (event.origin !== '${base}' || event.source !== frame.contentWindow) return`,
        "  if (event.data?.source !== 'tipping' || event.data.v !== 1) return",
        "  if (event.data.type === 'resize') frame.height = event.data.height",
        "  if (event.data.type === 'tip.completed') thank(event.data)",
        '})',
      ),
    ],
  }
}
