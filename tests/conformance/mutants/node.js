// A small and right provider in JavaScript, over lines of JSON on stdio, and the ways in which it can be wrong.
//
//     MUTANT=NAME node node.js        none is the reference
//
// One flat type, in memory.
"use strict";

const MUTANT = process.env.MUTANT || "";
const wrong = (name) => name === MUTANT;
const LIMIT = 4 * 1024 * 1024;
const TYPES = [
  { $type: "StringType", minLength: 1, maxLength: 64 },
  { $type: "IntegerType", minValue: 0, maxValue: 100 },
  { $type: "StringType" },
  { $type: "StringType", sensitive: true },
  {
    $type: "ObjectType",
    name: "Cup",
    properties: {
      name: { type: { $ref: "#/0" }, flags: 17 },
      size: { type: { $ref: "#/1" }, flags: 1 },
      note: { type: { $ref: "#/2" }, flags: 0 },
      secret: { type: { $ref: "#/3" }, flags: 4 },
    },
  },
  { $type: "ResourceType", name: "cup@1.0", body: { $ref: "#/4" }, readableScopes: 31, writableScopes: 31 },
];
const INDEX = {
  resources: { "cup@1.0": { $ref: "types.json#/5" } },
  resourceFunctions: {},
  namespaceFunctions: [],
  settings: { name: "node", version: "1.0.0", isSingleton: false },
};
const FIELDS = TYPES[4].properties;
const OPERATIONS = ["save", "previewSave", "get", "delete"];
const cups = new Map();
let late = wrong("late");

class Refused extends Error {
  constructor(faults, number = -32010, more = {}) {
    super(faults[0].message);
    this.number = number;
    this.data = { errors: faults, transient: false, ...more };
  }
}

const fault = (code, message, path) => ({ code, message, ...(path ? { path } : {}) });
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isMarker = (value) => isObject(value) && Object.keys(value).join() === "$unknown";

function placeOf(key) {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return `$.properties.${key}`;
  const quoted = Array.from(key, (char) => {
    if (char === "'" || char === "\\") return `\\${char}`;
    const code = char.codePointAt(0);
    return code < 32 || (code >= 0xd800 && code <= 0xdfff) ? `\\u${code.toString(16).padStart(4, "0")}` : char;
  });
  return `$.properties['${quoted.join("")}']`;
}

function troubleOf(key, value) {
  if (isMarker(value)) return null;
  const type = TYPES[Number(FIELDS[key].type.$ref.slice(2))];
  if (type.$type === "IntegerType") {
    if (!Number.isInteger(value)) return "expected a whole number";
    return value < type.minValue || value > type.maxValue ? "is out of bounds" : null;
  }
  if (typeof value !== "string") return "expected a text";
  const length = Array.from(value).length;
  return length < (type.minLength || 0) || length > (type.maxLength || Infinity) ? "has the wrong length" : null;
}

function* faultsOf(given, wanted) {
  for (const [key, value] of Object.entries(given)) {
    const place = placeOf(key);
    if (!Object.hasOwn(FIELDS, key)) yield fault("UnknownProperty", "is not known here", place);
    else if (value === null && !(FIELDS[key].flags & 1)) continue;
    else {
      const trouble = troubleOf(key, value);
      if (trouble) yield fault("InvalidProperty", trouble, place);
    }
  }
  for (const key of wanted) {
    if (!Object.hasOwn(given, key)) yield fault("MissingProperty", "is required", placeOf(key));
  }
}

function* envelopeFaults(params) {
  if (!isObject(params.import)) yield fault("InvalidRequest", "expected an object", "$.import");
  else {
    for (const key of ["provider", "version"]) {
      if (typeof params.import[key] !== "string") yield fault("InvalidRequest", "expected a text", `$.import.${key}`);
    }
  }
  if (typeof params.type !== "string") yield fault("InvalidRequest", "expected a text", "$.type");
  if (!isObject(params.properties)) yield fault("InvalidRequest", "expected an object", "$.properties");
}

function shown(cup, verb) {
  const properties = { ...cup };
  if (!wrong("secret-shown")) delete properties.secret;
  if (wrong("number-as-text") && verb === "get") properties.size = String(properties.size);
  return { properties, identifiers: { name: cup.name } };
}

function resource(verb, params) {
  const faults = [...envelopeFaults(params)];
  if (faults.length) throw new Refused(faults, -32602);
  if (params.import.provider.toLowerCase() !== "node" && !wrong("nameless"))
    throw new Refused([fault("InvalidRequest", "this is node", "$.import.provider")]);
  if (!/^1(\.0){0,2}$/.test(params.import.version))
    throw new Refused([fault("UnsupportedVersion", "this is 1.0.0", "$.import.version")]);
  if (!/^(node:)?cup@1\.0$/.test(params.type.toLowerCase()))
    throw new Refused([fault("UnknownResourceType", "there is no such type", "$.type")]);
  const config = isObject(params.import.config) ? params.import.config : {};
  const extra = Object.keys(config);
  if (extra.length) throw new Refused([fault("UnknownProperty", "there is no configuration", "$.import.config")]);
  if (params.import.configId !== undefined && params.import.configId !== null)
    throw new Refused([fault("ConfigMismatch", "there is one control plane alone", "$.import.configId")]);
  let given = params.properties;
  if (isMarker(given)) throw new Refused([fault("UnknownValueNotAllowed", "must be known", "$.properties")]);
  const reads = verb === "get" || verb === "delete";
  if (reads) given = Object.fromEntries(Object.entries(given).filter(([key, value]) => key === "name" || isMarker(value)));
  const marked = Object.keys(given).filter((key) => isMarker(given[key]));
  if (verb !== "previewSave" && marked.length)
    throw new Refused(marked.map((key) => fault("UnknownValueNotAllowed", "must be known", placeOf(key))));
  const found = [...faultsOf(given, reads ? ["name"] : ["name", "size"])];
  if (found.length) {
    if (wrong("codes-in-lower-case")) found.forEach((item) => (item.code = "invalid_property"));
    throw new Refused(found);
  }
  if (isMarker(given.name)) throw new Refused([fault("PreviewNotSupported", "the name is not known", "$.properties.name")]);
  return { save, previewSave: preview, get, delete: remove }[verb](given);
}

function made(given) {
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  return { ...(cups.get(given.name) || {}), ...known };
}

function save(given) {
  cups.set(given.name, made(given));
  return shown(cups.get(given.name), "save");
}

function preview(given) {
  return shown(made(given), "previewSave");
}

function get(given) {
  const cup = cups.get(given.name);
  if (cup === undefined) throw new Refused([fault("ResourceNotFound", "there is no such cup", "$.properties.name")]);
  return shown(cup, "get");
}

function remove(given) {
  if (!wrong("keeps-what-is-deleted")) cups.delete(given.name);
  return { properties: null, identifiers: { name: given.name } };
}

function initialize(params) {
  const versions = params.protocolVersions;
  if (!Array.isArray(versions) || !versions.includes("1")) {
    const told = { supportedVersions: ["1"] };
    throw new Refused([fault("InvalidRequest", "none of these versions", "$.protocolVersions")], -32602, told);
  }
  const hello = {
    protocolVersion: "1",
    provider: { name: "node", version: "1.0.0" },
    capabilities: { cancel: false, progress: false, batch: true },
    limits: { maxMessageBytes: LIMIT, maxConcurrentRequests: 256 },
  };
  if (wrong("nameless")) hello.provider.name = "";
  return hello;
}

function serve(method, params) {
  if (!isObject(params)) throw new Refused([fault("InvalidRequest", "expected an object", "$")], -32602);
  if (method === "provider/initialize") return initialize(params);
  if (method === "provider/ping" || method === "provider/shutdown") return {};
  if (method === "provider/listTypes") return { types: [{ type: "cup@1.0", operations: OPERATIONS }] };
  if (method === "provider/getTypeFiles")
    return { indexFile: JSON.stringify(INDEX), typeFiles: { "types.json": JSON.stringify(TYPES) } };
  if (method === "provider/getConfigType") return null;
  if (method === "provider/getType") {
    if (params.type !== "cup@1.0") throw new Refused([fault("UnknownResourceType", "there is no such type", "$.type")]);
    return { types: TYPES, type: { $ref: "#/4" } };
  }
  const verb = method.startsWith("resource/") ? method.slice(9) : "";
  if (OPERATIONS.includes(verb)) return resource(verb, params);
  throw new Refused([fault("InvalidRequest", "there is no such method")], -32601);
}

const error = (id, code, message, data) => ({ jsonrpc: "2.0", id, error: { code, message, ...(data ? { data } : {}) } });
const send = (value) => {
  let text = JSON.stringify(value);
  if (Buffer.byteLength(text) > LIMIT && !Array.isArray(value)) {
    text = JSON.stringify(error(value.id, -32011, "the answer is too long"));
  }
  return process.stdout.write(`${text}\n`);
};

function answerTo(message) {
  const id = isObject(message) && ["string", "number"].includes(typeof message.id) ? message.id : null;
  if (!isObject(message) || message.jsonrpc !== "2.0" || typeof message.method !== "string")
    return error(id, -32600, "this is no request");
  if (!("id" in message)) {
    return wrong("answers-notifications") ? { jsonrpc: "2.0", id: null, result: {} } : undefined;
  }
  if (id === null && message.id !== null) return error(null, -32600, "this is no request");
  const told = wrong("ids-as-text") ? String(id) : id;
  try {
    return { jsonrpc: "2.0", id: told, result: serve(message.method, message.params === undefined ? {} : message.params) };
  } catch (caught) {
    if (caught instanceof Refused) {
      if (wrong("prints-errors")) process.stdout.write(`error: ${caught.message}\n`);
      return error(told, caught.number, caught.message, caught.data);
    }
    process.stderr.write(`${caught.stack}\n`);
    const data = { errors: [fault("InternalError", "something unexpected happened")], transient: false };
    return error(told, -32010, "something unexpected happened", data);
  }
}

function take(line) {
  if (line === null) return send(error(null, -32011, "the message is too long"));
  if (!line.toString().trim()) return undefined;
  let message;
  try {
    message = JSON.parse(line.toString());
  } catch {
    return send(error(null, -32700, "this is no JSON"));
  }
  if (Array.isArray(message) && message.length) {
    const answers = message.map(answerTo).filter((item) => item !== undefined);
    return answers.length ? send(answers) : undefined;
  }
  const answer = answerTo(message);
  if (answer === undefined) return undefined;
  if (late && message.method === "resource/previewSave") {
    late = false;
    setTimeout(send, 61000, answer);
    return undefined;
  }
  return send(answer);
}

let pending = Buffer.alloc(0);
let skipping = false;
if (wrong("banner")) process.stdout.write("node provider 1.0.0\n");
process.stdin.on("data", (chunk) => {
  pending = pending.length ? Buffer.concat([pending, chunk]) : chunk;
  for (let end = pending.indexOf(10); end >= 0; end = pending.indexOf(10)) {
    const line = pending.subarray(0, end);
    pending = pending.subarray(end + 1);
    if (skipping) skipping = false;
    else take(line.length > LIMIT ? null : line);
  }
  if (pending.length > LIMIT) {
    if (!skipping) take(null);
    skipping = true;
    pending = Buffer.alloc(0);
  }
});
process.stdin.on("end", () => {
  if (pending.length && !skipping) take(pending);
  process.exitCode = 0;
});
