/** What strangers may write where others read it: markup, script, templates, direction, size. */
export const hostileTexts = [
  '<script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1">',
  '"><svg onload=window.hacked=1>',
  "'-window.hacked=1-'",
  '</article></ul><h1>hacked</h1>',
  '{{constructor.constructor("window.hacked=1")()}}',
  '{sender} {amount} {token}',
  'javascript:window.hacked=1',
  '&lt;b&gt;&amp;&#x3c;script&#x3e;',
  '\u202Egnp.exe\u202C and \u2066mixed\u2069',
  'שלום مرحبا',
  'W'.repeat(300),
  'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!',
  '👩‍👩‍👧‍👦'.repeat(30),
] as const
