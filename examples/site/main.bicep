// The web site of Lantern Bay: thirty-odd files and folders, one resource each.
//
//   extensor what-if main.json            what would be written, before anything is
//   extensor deploy  main.json            open public/index.html afterwards
//   extensor what-if main.json -p theme=storm
//   extensor destroy main.json

@description('Everything happens below this folder; a relative one starts at the template.')
param root string = '.'

@description('The folder that the site is laid out in.')
param folder string = 'public'

param siteName string = 'Lantern Bay'

@allowed(['dawn', 'dusk', 'storm'])
param theme string = 'dawn'

@description('Whether the page nobody has proof-read yet is published too.')
param drafts bool = false

@description('The host name that the site is served under, for hosts that read a CNAME file.')
param domain string = ''

extension files with {
  root: root
}

var content = loadYamlContent('content.yaml')
var shell = loadTextContent('assets/page.html')

var themes = {
  dawn: { sky: '#fff8f0', ink: '#2b2b3a', sea: '#b3462d', light: '#f2a65a' }
  dusk: { sky: '#20243a', ink: '#ece6f0', sea: '#f4b6a6', light: '#ffd166' }
  storm: { sky: '#e6ebee', ink: '#1c2b33', sea: '#0b6e6e', light: '#5c8a97' }
}
var colours = themes[theme]

// Links start with @/, which becomes the way back to the site's top from wherever the page lies.
var links = [for page in content.pages: '<a href="@/${page.slug}.html">${page.nav}</a>']
var nav = '${join(links, ' ')} <a href="@/boats/index.html">Boats</a> <a href="@/notes/index.html">Notes</a> <a href="@/log.html">Log</a>'

// ---- What is there already ---------------------------------------------------------------------------------------

// The keeper writes this by hand; the site only quotes it.
resource log 'file@1.0' existing = {
  path: 'keeper.txt'
}

// ---- Folders -----------------------------------------------------------------------------------------------------

resource site 'directory@1.0' = {
  path: folder
}

resource sections 'directory@1.0' = [for name in ['css', 'img', 'boats', 'notes']: {
  path: '${site.path}/${name}'
}]

// ---- Looks -------------------------------------------------------------------------------------------------------

// The one file that knows the theme: another theme changes it, the manifest that names its digest, and nothing else.
resource themeSheet 'file@1.0' = {
  path: '${sections[0].path}/theme.css'
  content: ':root { --sky: ${colours.sky}; --ink: ${colours.ink}; --sea: ${colours.sea}; --light: ${colours.light}; }\n'
}

resource layoutSheet 'file@1.0' = {
  path: '${sections[0].path}/layout.css'
  content: loadTextContent('assets/layout.css')
}

resource lantern 'file@1.0' = {
  path: '${sections[1].path}/lantern.svg'
  content: loadTextContent('assets/lantern.svg')
}

resource favicon 'file@1.0' = {
  path: '${sections[1].path}/favicon.png'
  contentBase64: loadFileAsBase64('assets/favicon.png')
}

// ---- Pages -------------------------------------------------------------------------------------------------------

resource pages 'file@1.0' = [for page in content.pages: {
  path: '${site.path}/${page.slug}.html'
  content: replace(format(shell, page.title, siteName, nav, page.body), '@/', '')
}]

var boatRows = [for boat in content.boats: '<tr><td><a href="${boat.slug}.html">${boat.name}</a></td><td>${boat.built}</td></tr>']

resource boatList 'file@1.0' = {
  path: '${sections[2].path}/index.html'
  content: replace(format(shell, 'The boats', siteName, nav, '<table>${join(boatRows, '\n')}</table>'), '@/', '../')
}

resource boats 'file@1.0' = [for boat in content.boats: {
  path: '${sections[2].path}/${boat.slug}.html'
  content: replace(
    format(
      shell,
      boat.name,
      siteName,
      nav,
      '<p>Built in ${boat.built}. Skipper: ${boat.skipper}. She catches ${boat.catch}.</p>'
    ),
    '@/',
    '../'
  )
}]

var noteItems = map(content.notes, note => '<li><a href="${note.slug}.html">${note.title}</a></li>')

resource noteList 'file@1.0' = {
  path: '${sections[3].path}/index.html'
  content: replace(format(shell, 'Notes', siteName, nav, '<ul>${join(noteItems, '\n')}</ul>'), '@/', '../')
}

resource notes 'file@1.0' = [for note in content.notes: {
  path: '${sections[3].path}/${note.slug}.html'
  content: replace(format(shell, note.title, siteName, nav, '<p>${note.body}</p>'), '@/', '../')
}]

// Readers can tell whether a note is as it was written: cd public/notes && sha256sum --check *.sha256
resource seals 'file@1.0' = [for (note, i) in content.notes: {
  path: '${sections[3].path}/${note.slug}.sha256'
  content: '${notes[i].sha256}  ${note.slug}.html\n'
}]

resource logPage 'file@1.0' = {
  path: '${site.path}/log.html'
  content: replace(
    format(shell, 'From the keeper\'s log', siteName, nav, '<blockquote>${log.content}</blockquote>'),
    '@/',
    ''
  )
}

resource draftPage 'file@1.0' = if (drafts) {
  path: '${site.path}/draft.html'
  content: replace(format(shell, 'Not yet', siteName, nav, '<p>Marta has not read this.</p>'), '@/', '')
}

// ---- For machines ------------------------------------------------------------------------------------------------

resource robots 'file@1.0' = {
  path: '${site.path}/robots.txt'
  content: 'User-agent: *\n${drafts ? 'Disallow: /draft.html' : 'Allow: /'}\n'
}

resource cname 'file@1.0' = if (!empty(domain)) {
  path: '${site.path}/CNAME'
  content: '${domain}\n'
}

resource manifest 'file@1.0' = {
  path: '${site.path}/manifest.json'
  content: string({
    site: siteName
    home: pages[0].path
    log: { copied: logPage.path, from: log.path, sha256: log.sha256 }
    looks: [
      { path: themeSheet.path, sha256: themeSheet.sha256, size: themeSheet.size }
      { path: layoutSheet.path, sha256: layoutSheet.sha256, size: layoutSheet.size }
      { path: lantern.path, sha256: lantern.sha256, size: lantern.size }
      { path: favicon.path, sha256: favicon.sha256, size: favicon.size }
    ]
  })
}

output home string = pages[0].path
output boatPages array = [for (boat, i) in content.boats: boats[i].path]
output manifestDigest string = manifest.sha256
output domainFile string = empty(domain) ? 'none' : cname!.path
