import { type Chapter, code, guide, heading, list, note, table, text } from '../blocks.js'

/** The embed protocol, version 1. */
export function embed(base: string): Chapter {
  return {
    ...guide(
      'embed',
      'Embed and messages',
      text(
        'The checkout is a page of ours in an iframe of yours. `embedUrl` opens it; only the site the session was opened for may frame it. The session token is in the fragment of the address: no server sees it, and it must not be logged or shared.',
      ),
      heading('With embed.js'),
      text(
        'The script sets the frame up, follows its height, and lends it the wallets of your page: Phantom and others never show themselves inside a frame. Without it supporters can still pay, in a new window or by phone.',
      ),
      text(
        '`mount` returns `open(embedUrl)`, which shows another session in the same place, `setTheme(theme)` and `destroy()`. The element takes `embed-url`; its events are `ready`, `started`, `submitted`, `completed`, `failed` and `expired`, each with its message below as `detail`.',
      ),
      heading('Messages'),
      text(
        'Every message is `{ source: "tipping", v: 1, type, … }`, sent to your exact origin. Check `event.origin` and `event.source`; ignore types and fields you do not know.',
      ),
      table(
        ['`type`', 'What it holds', 'When'],
        ['`ready`', '`height`', 'The checkout is there.'],
        ['`resize`', '`height`', 'Its height changed, in pixels.'],
        ['`tip.started`', '`intentId`, `method`, `amountUsd`, `tokenSymbol`', 'The supporter has chosen.'],
        ['`tip.submitted`', '`intentId`, `signature`', 'It was sent to the chain.'],
        [
          '`tip.completed`',
          '`intentId`, `signature`, `method`, `amount`, `tokenSymbol`, `amountUsd`, `receivedAmount`, `timestamp`',
          'The service has confirmed it.',
        ],
        [
          '`tip.failed`',
          '`intentId`, `code`, `retryable`, `message`',
          'A try failed: `rejected`, `expired`, `insufficient_funds`, `no_wallet`, `wrong_network`, `tx_failed`, `fiat_failed` or `unavailable`.',
        ],
        ['`tip.expired`', '', 'The session has ended: open a new one and load the frame again.'],
        ['`theme`', '`theme`', 'From you to the frame: `dark` or `light`.'],
      ),
      note('A message is a hint to show something. Deliver only what `GET /sdk/events` tells your server.'),
      heading('Content security policy of your page'),
      list(
        `\`frame-src ${base}\` for the checkout.`,
        `\`script-src ${base}\` for embed.js, loaded as a module.`,
        'A sandboxed frame needs `allow-scripts allow-same-origin allow-forms allow-popups`.',
      ),
    ),
    beside: [
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
