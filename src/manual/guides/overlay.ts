import { type Chapter, code, guide, heading, list, steps, table, text } from '../blocks.js'

/** The overlay for streaming programs and its URL parameters. */
export function overlay(base: string): Chapter {
  return {
    ...guide(
      'overlay',
      'Overlay for streams',
      text(
        `\`${base}/overlay?wallet=<wallet>\` is a transparent page for OBS and other streaming programs. It shows each confirmed tip once, in order. It needs no key, because the wallet is public.`,
      ),
      steps(
        `Copy the address from the **Overlay** screen of the dashboard, \`${base}/dashboard/overlay\`. It has a preview and sets the parameters below.`,
        'In OBS add a source of the kind Browser, paste the address, and set the width to 800 and the height to 600.',
        'If the service was unavailable when OBS started, press “Refresh” in the source once.',
      ),
      heading('Which tips are shown'),
      text(
        'After a reload, a change of scene or a lost connection the overlay shows the tips it has missed, if they are at most `replay` minutes old. While its source is not shown in OBS, it holds alerts back. When more than `queue` tips wait, one alert sums up the rest.',
      ),
      heading('Parameters'),
      text(
        'Every parameter but `wallet` is optional. An invalid value becomes the default, and a number outside its range the nearest allowed one.',
      ),
      table(
        ['Parameter', 'Default', 'What it sets'],
        ['`wallet`', '', "The creator's wallet. Required."],
        ['`duration`', '7000', 'How long an alert is shown, in milliseconds: 1000 to 60000.'],
        ['`gap`', '600', 'The pause between two alerts, in milliseconds: 0 to 60000.'],
        ['`min`', '0', 'The smallest tip that is shown, in US dollars.'],
        [
          '`template`',
          '`{sender} tipped {amount} {token}`',
          'The text of an alert, at most 200 characters, with these three placeholders.',
        ],
        ['`message`', '1', '0 hides the supporters’ messages.'],
        ['`position`', '`bottom`', '`bottom`, `top`, `left`, `right` or `center`.'],
        ['`animation`', '`slide`', '`slide`, `fade`, `pop` or `none`.'],
        ['`theme`', '`dark`', '`dark` or `light`.'],
        ['`accent`', '`#7c5cff`', 'The accent colour, as `#rrggbb` or `rrggbb`.'],
        ['`scale`', '1', 'The size: 0.25 to 4.'],
        ['`sound`', '0', '1 plays a sound with each alert.'],
        ['`volume`', '0.5', 'The volume of the sound: 0 to 1.'],
        ['`queue`', '50', 'How many tips wait at most: 1 to 500.'],
        ['`replay`', '10', 'How old a missed tip may be, in minutes: 0 to 1440.'],
        ['`hold`', '1', '0 shows alerts also while the source is not shown.'],
        ['`dot`', '1', '0 hides the dot that appears after a minute without a connection.'],
        ['`test`', '0', '1 shows a sample every ten seconds.'],
      ),
      heading('Your own style'),
      list(
        'These CSS variables may be set in the custom CSS of the source: `--tip-accent`, `--tip-ground`, `--tip-text`, `--tip-font`, `--tip-size`, `--tip-radius`, `--tip-width`.',
        'These classes may be restyled: `.tip`, `.tip__line`, `.tip__sender`, `.tip__amount`, `.tip__token`, `.tip__message`.',
        'Scripts in the page can listen to `tip:show` and `tip:hide` on `window`. The event’s `detail` is the tip; for an alert that sums up several tips it has `count` and `usd`.',
      ),
    ),
    samples: [
      code('text', 'An address', `${base}/overlay?wallet=<wallet>&position=top&min=1&sound=1&volume=0.3`),
      code(
        'ts',
        'React to an alert',
        "addEventListener('tip:show', (event) => {",
        '  if (event instanceof CustomEvent) console.info(event.detail)',
        '})',
      ),
    ],
  }
}
