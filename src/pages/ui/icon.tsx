const paths = {
  tick: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  warn: 'M12 8v5M12 16.6v.2M12 3.5L2.5 20h19L12 3.5z',
  wait: 'M12 7v5l3.5 2M12 3a9 9 0 100 18 9 9 0 000-18z',
  wallet: 'M3.5 7.5v10a2 2 0 002 2h13a2 2 0 002-2v-8a2 2 0 00-2-2h-13a2 2 0 010-4h12M16.5 13.5h.2',
  bank: 'M4 10h16L12 4.5 4 10zM6 10v7M10 10v7M14 10v7M18 10v7M3.5 20h17',
  phone:
    'M8 3h8a1.5 1.5 0 011.5 1.5v15A1.5 1.5 0 0116 21H8a1.5 1.5 0 01-1.5-1.5v-15A1.5 1.5 0 018 3zM11 18h2',
  out: 'M14 4.5h5.5V10M19 5l-8.5 8.5M17.5 14v4a1.5 1.5 0 01-1.5 1.5H6A1.5 1.5 0 014.5 18V8A1.5 1.5 0 016 6.5h4',
  copy: 'M9 9h9.5v10.5H9zM15 9V4.5H5.5V15H9',
  mail: 'M3.5 6h17v12.5h-17zM4 6.5l8 6.5 8-6.5',
  offline: 'M4 4l16 16M8.5 15.5a5 5 0 016-.8M5 12a10 10 0 014-2.4M12.5 9.1A10 10 0 0119 12M12 19h.1',
} as const

export type IconName = keyof typeof paths

/** Icons grow with the text. */
const rem = (size: number): string => `${size / 16}rem`

/** An icon next to a text, never instead of one: hidden from screen readers. */
export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={rem(size)}
      height={rem(size)}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  )
}
