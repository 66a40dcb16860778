/** The languages of what supporters read, as BCP 47 tags. */
export const languages = ['en', 'pcm', 'fr'] as const
export type Language = (typeof languages)[number]

/** What a language calls itself. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  pcm: 'Naijá',
  fr: 'Français',
}

/** For numbers and dates. Naijá writes them as English in Nigeria does. */
export const locales: Readonly<Record<Language, string>> = { en: 'en-NG', pcm: 'en-NG', fr: 'fr-FR' }

export const languageOf = (text: string | undefined): Language | undefined =>
  languages.find((language) => language === text)

/** The first of an `Accept-Language` header that there is. Its weights are in falling order in every browser. */
export function acceptedLanguage(header: string): Language | undefined {
  return header
    .slice(0, 500)
    .split(',')
    .map((part) => languageOf(part.split(/[-;]/, 1)[0]?.trim().toLowerCase()))
    .find((language) => language !== undefined)
}
