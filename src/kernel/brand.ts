/** The service's name on pages, in e-mails, as their sender, and in the manual. */
export const serviceName = 'Tips'

/** The service's colour on light and on dark ground. `src/pages/ui/theme.css` has the same values. */
export const accent = { light: '#3d3fd8', dark: '#a9adff' } as const
