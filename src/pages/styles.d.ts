/** Styles are imported for their effect; Vite turns each page's into one file. */
declare module '*.css'
