/** The service's name on pages, in e-mails, as their sender, and in the manual. */
export const serviceName = 'Tips'

/** What every page and every mail of a test deployment says. */
export const testNotice = 'Test: all money here is play money'

/** The service's colour on light and on dark ground. `src/pages/ui/theme.css` has the same values. */
export const accent = { light: '#3d3fd8', dark: '#a9adff' } as const
