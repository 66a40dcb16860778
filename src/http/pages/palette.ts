import { accent } from '../../kernel/brand.js'

/**
 * The colours of pages without a script, light and dark by system setting. `src/pages/ui/theme.css` has the same values:
 * a page with a script lets the embedding site choose. `src/pages/ui/base.css` has the banner of a test deployment too.
 */
export const palette = /* css */ `:root {
  color-scheme: light dark;
  --ground: #f4f5f8; --sheet: #ffffff; --raised: #f5f6fa; --line: #d9dde7; --text: #14171f; --muted: #5a6376;
  --accent: ${accent.light}; --on-accent: #ffffff; --good: #0c7a43; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d0f14; --sheet: #161922; --raised: #1f2430; --line: #313849; --text: #f2f4f9; --muted: #aab3c5;
    --accent: ${accent.dark}; --on-accent: #12142b; --good: #5fd99a; --bad: #ff9c94;
  }
}
.test-banner { padding: .25rem 1rem; text-align: center; }
`
