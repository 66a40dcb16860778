/** Vite bundles the styles a page imports into one file. */
declare module '*.css'
