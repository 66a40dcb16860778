import { html, type Markup } from '../http/pages/html.js'
import { languageLinks } from '../http/pages/language.js'
import { serviceName } from '../kernel/brand.js'
import { type Language, locales } from '../kernel/languages.js'
import type { PageOwner } from './handle.js'
import { type PageContent, picturePath } from './page.js'
import type { OwnPage } from './schemas.js'
import type { Supporter, Wall } from './wall.js'
import { pageWords } from './words.js'

/** What a creator's page shows to strangers. */
export interface ShownPage extends PageContent {
  readonly owner: PageOwner
  readonly goal: OwnPage['goal']
  /** Undefined: the creator shows none. */
  readonly supporters: Wall | undefined
  readonly cardPath: string
}

const dollars = (language: Language): Intl.NumberFormat =>
  new Intl.NumberFormat(locales[language], {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: 0,
  })

/** What the page says where search engines and link previews show it. */
function descriptionOf({ owner, words }: Pick<ShownPage, 'owner' | 'words'>, language: Language): string {
  return words ?? pageWords[language].description(owner.name)
}

/** The parts of the document: it can be read before its script has loaded, and without one. */
export function renderPage(page: ShownPage, language: Language, publicUrl: string, isReady: boolean) {
  const { owner, goal, supporters } = page
  const words = pageWords[language]
  return {
    head: renderHead(page, language, publicUrl),
    before: html`<header class="profile">
${pictureOf(page)}
<div class="profile__text"><h1>${owner.name}</h1><p class="quiet">@${owner.handle}</p></div>
${page.words === null ? undefined : html`<p class="profile__words">${page.words}</p>`}
${goal === null ? undefined : renderGoal(goal, language)}
</header>`,
    app: html`<main class="sheet sheet--page"><p class="working"><span class="spinner" aria-hidden="true"></span><span>${
      isReady ? words.loading : words.preparing
    }</span></p>
<noscript>${words.noScript}</noscript></main>`,
    after: html`<footer class="profile profile--after">
${page.links.length === 0 ? undefined : renderLinks(page, language)}
${supporters === undefined || supporters.newest.length === 0 ? undefined : renderWall(supporters, language)}
<nav class="languages" aria-label="Language">${languageLinks(language)}</nav>
<p class="quiet small">${words.tipsBy} <a href="/">${serviceName}</a></p>
</footer>`,
  }
}

function renderHead(page: ShownPage, language: Language, publicUrl: string): Markup {
  const { owner, robots, cardPath } = page
  const address = `${publicUrl}/@${owner.handle}`
  const title = pageWords[language].title(owner.name)
  const description = descriptionOf(page, language)
  return html`<meta name="description" content="${description}">
<link rel="canonical" href="${address}">
${robots ? undefined : html`<meta name="robots" content="noindex, nofollow">`}
<meta property="og:type" content="website">
<meta property="og:site_name" content="${serviceName}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${address}">
<meta property="og:image" content="${publicUrl}${cardPath}">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta property="og:image:alt" content="${title}">
<meta name="twitter:card" content="summary_large_image">`
}

function pictureOf({ owner, pictureHash }: ShownPage): Markup {
  const path = picturePath(owner.handle, pictureHash)
  if (path !== null) return html`<img class="profile__picture" src="${path}" alt="" width="64" height="64">`
  const [letter = ''] = owner.name
  return html`<span class="profile__picture" aria-hidden="true">${letter.toUpperCase()}</span>`
}

function renderGoal(
  { title, amountUsd, raisedUsd }: NonNullable<OwnPage['goal']>,
  language: Language,
): Markup {
  const words = pageWords[language]
  const usd = dollars(language)
  const percent = Math.floor((raisedUsd / amountUsd) * 100)
  return html`<section class="goal" aria-label="${words.goal}">
<p><strong>${title}</strong> <span class="quiet number">${words.raised(usd.format(Math.floor(raisedUsd)), usd.format(amountUsd), percent)}</span></p>
<progress max="100" value="${Math.min(percent, 100)}" aria-label="${title}"></progress>
</section>`
}

function renderLinks({ links }: ShownPage, language: Language): Markup {
  const entries = links.map(
    ({ title, url }) =>
      html`<li><a class="button button--plain" rel="nofollow ugc noopener" target="_blank" href="${url}">${title}</a></li>`,
  )
  return html`<nav aria-label="${pageWords[language].links}"><ul class="stack">${entries}</ul></nav>`
}

function renderWall({ newest, largest }: Wall, language: Language): Markup {
  const words = pageWords[language]
  const list = (tips: readonly Supporter[]): Markup =>
    html`<ul class="wall">${tips.map(renderSupporter)}</ul>`
  return html`<section aria-label="${words.supporters}">
<h2>${words.newest}</h2>${list(newest)}
${newest.length < 3 ? undefined : html`<h2>${words.largest}</h2>${list(largest)}`}
</section>`
}

function renderSupporter({ name, amount, words, at }: Supporter): Markup {
  return html`<li><p><strong>${name}</strong> <span class="number">${amount}</span> <time class="quiet small" datetime="${at}">${at.slice(0, 10)}</time></p>${
    words === null ? undefined : html`<p>${words}</p>`
  }</li>`
}
