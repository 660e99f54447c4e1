// Two notes, the second of which quotes the first.
param who string = 'world'

extension quickstart

resource hello 'note@1.0' = {
  name: 'hello'
  text: 'Hello, ${who}!'
}

resource echo 'note@1.0' = {
  name: 'echo'
  text: 'Somebody said: ${hello.text}'
}

output said string = echo.text
