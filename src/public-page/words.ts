import type { Language } from '../kernel/languages.js'

interface PageWords {
  title(name: string): string
  description(name: string): string
  readonly loading: string
  readonly preparing: string
  readonly noScript: string
  readonly goal: string
  raised(raised: string, goal: string, percent: number): string
  readonly links: string
  readonly supporters: string
  readonly newest: string
  readonly largest: string
  readonly tipsBy: string
}

/** What a creator's page says by itself. No native speaker has read the Pidgin and the French yet. */
export const pageWords: Readonly<Record<Language, PageWords>> = {
  en: {
    title: (name) => `Tip ${name}`,
    description: (name) => `Send ${name} a tip in naira or crypto. No account needed.`,
    loading: 'Loading…',
    preparing: 'This page is being prepared…',
    noScript: 'You can read this page as it is. To send a tip, turn JavaScript on.',
    goal: 'Goal',
    raised: (raised, goal, percent) => `${raised} of ${goal} (${percent} %)`,
    links: 'Links',
    supporters: 'Supporters',
    newest: 'Newest tips',
    largest: 'Largest tips',
    tipsBy: 'Tips by',
  },
  pcm: {
    title: (name) => `Dash ${name} something`,
    description: (name) => `Dash ${name} something with naira or crypto. You no need account.`,
    loading: 'E dey load…',
    preparing: 'We dey prepare dis page…',
    noScript: 'You fit read dis page like this. To send tip, turn JavaScript on.',
    goal: 'Wetin we dey target',
    raised: (raised, goal, percent) => `${raised} don come out of ${goal} (${percent} %)`,
    links: 'Links',
    supporters: 'People wey support',
    newest: 'New tips',
    largest: 'Tips wey big pass',
    tipsBy: 'Na who dey run tips here:',
  },
  fr: {
    title: (name) => `Un pourboire pour ${name}`,
    description: (name) => `Envoyez un pourboire à ${name} en nairas ou en crypto. Sans compte.`,
    loading: 'Chargement…',
    preparing: 'Cette page se prépare…',
    noScript: 'Vous pouvez lire cette page ainsi. Pour envoyer un pourboire, activez JavaScript.',
    goal: 'Objectif',
    raised: (raised, goal, percent) => `${raised} sur ${goal} (${percent} %)`,
    links: 'Liens',
    supporters: 'Soutiens',
    newest: 'Derniers pourboires',
    largest: 'Plus grands pourboires',
    tipsBy: 'Pourboires par',
  },
}
