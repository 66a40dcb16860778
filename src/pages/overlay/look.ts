import type { OverlayLook } from '../../overlay/schemas.js'
import type { Parameters } from './parameters.js'

export type { OverlayLook } from '../../overlay/schemas.js'

/** The settings of an address with parameters. It has one sound, and nothing that differs by amount. */
export function lookOf({ wallet: _, sound, test: __, preview: ___, ...rest }: Parameters): OverlayLook {
  return {
    ...rest,
    sound: sound ? 'chime' : 'none',
    tiers: [],
    speech: { enabled: false, fromUsd: 0 },
  }
}

export interface AlertLook extends Pick<OverlayLook, 'template' | 'sound' | 'durationMs'> {
  /** The name of a picture. */
  readonly picture?: string | undefined
}

/** How an alert of this worth looks: what its tier sets, else what the overlay does. */
export function lookFor({ tiers, ...look }: AlertLook & Pick<OverlayLook, 'tiers'>, usd: number): AlertLook {
  const fitting = tiers.filter(({ fromUsd }) => usd >= fromUsd).sort((a, b) => b.fromUsd - a.fromUsd)
  const [{ template, sound, durationMs, picture } = {}] = fitting
  return {
    template: template ?? look.template,
    sound: sound ?? look.sound,
    durationMs: durationMs ?? look.durationMs,
    ...(picture !== undefined && { picture }),
  }
}

/** Puts what concerns the whole page on its root element. */
export function applyLook({ theme, position, animation, accent, scale }: OverlayLook): void {
  const page = document.documentElement
  page.dataset['theme'] = theme
  page.dataset['position'] = position
  page.dataset['animation'] = animation
  page.style.setProperty('--tip-accent', accent)
  page.style.setProperty('--tip-scale', String(scale))
}
