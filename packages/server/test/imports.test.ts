import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import test from "node:test";

// Who may import whom inside the server. An area is a folder of src, or a file that stands in src itself; docs/adr
// tells why.
const SRC = fileURLToPath(new URL("../src/", import.meta.url));

const ROOMS = ["iam", "registry", "vulnerabilities", "libraries", "advisory", "events", "ping"];
const EVERYBODY = new Set(["errors", "call", "base"]);

/** The areas whose every file may be imported, beside EVERYBODY. */
const MAY: Record<string, string[]> = {
  errors: [],
  base: [],
  call: [],
  room: [],
  config: [],
  store: [],
  blobs: [],
  aip: ["store"],
  ...Object.fromEntries(ROOMS.map((room) => [room, ["room", "aip", "store", "blobs"]])),
  access: ["aip", "store"],
  leases: ["store"],
  transaction: ["store"],
  // What is done is written down with it, in the same transaction.
  audit: ["store"],
  "read-blob": ["blobs", "room"],
  // What dispatch is made of: a call with its rights, and the table of methods, the only code that knows every room.
  calls: ["access", "store"],
  methods: ["access", "room", "aip"],
  streams: [],
  dispatch: ["access", "transaction", "aip", "store", "calls", "methods", "streams"],
  distribution: ["transaction", "access", "blobs", "store"],
  // It writes by commands of distribution and reads what registry says of repos; distribution knows it as an interface.
  mirroring: ["transaction", "blobs", "store"],
  // It sends what the queue of events has; the queue does not know it.
  delivery: ["transaction", "store"],
  // It wraps what it watches; only the wiring knows it.
  observe: ["blobs"],
  "kept-answers": ["store"],
  "account-providers": ["access", "config", "room"],
  "terms-file": ["config", "room"],
  transport: ["dispatch", "kept-answers"],
  // It works on an installation as a whole, beside the server.
  moving: ["store", "blobs", "config", "bootstrap", "prepare", "secret-keys"],
};

/** Types alone may be imported from these: no code crosses. */
const MAY_TYPES: Record<string, string[]> = {
  // A call carries the transaction; the transactor's signature names the commands.
  call: ["store"],
  // What only reads may answer as it is stored.
  room: ["aip"],
  transaction: ["commands"],
  // Settings are plain data.
  access: ["config"],
  dispatch: ["config"],
  // What the doors tell of a request is an interface.
  distribution: ["config", "observe", "room"],
  transport: ["config", "observe"],
  mirroring: ["config", "observe"],
  delivery: ["config", "observe"],
  observe: ["config", "transaction"],
};

/** The areas of which only `index.ts` may be imported. */
const MAY_INDEX: Record<string, string[]> = {
  ...Object.fromEntries(ROOMS.map((room) => [room, [...ROOMS.filter((other) => other !== room), "audit"]])),
  access: ["iam", "audit"],
  dispatch: ["audit"],
  methods: ROOMS,
  distribution: [...ROOMS, "audit"],
  mirroring: ["distribution", "registry"],
  delivery: ["access", "events"],
};

/** What wires the rest together, and so may import everything; nobody else may import it. */
const WIRING = new Set([
  "audit-cleaner",
  "event-cleaner",
  "main",
  "index",
  "server",
  "start",
  "bootstrap",
  "commands",
  "gc",
  "housekeeping",
  "writer",
  "writer-thread",
  "postgres-transactor",
  "transactors",
  "secret-keys",
  "sign-token",
  "prepare",
  "workers",
  "worker-process",
  "worker-messages",
]);

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

function sources(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .map((name) => name.split(path.sep).join("/"))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .sort();
}

function importsOf(file: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  const found: Import[] = [];
  const statement = /^\s*(?:import|export)\s+(type\s+(?!from\b))?(?:[\w*{][^;"'`]*?\bfrom\s*)?["'](\.[^"']*)["']/gm;
  const resolve = (target: string) => path.posix.normalize(path.posix.join(path.posix.dirname(file), target));
  for (const [, type, target] of code.matchAll(statement))
    found.push({ from: file, to: resolve(target ?? ""), typeOnly: type !== undefined });
  for (const [, target] of code.matchAll(/\bimport\(\s*["'](\.[^"']*)["']/g))
    found.push({ from: file, to: resolve(target ?? ""), typeOnly: false });
  return found;
}

function areaOf(file: string): string {
  const cut = file.indexOf("/");
  return cut < 0 ? file.slice(0, -".ts".length) : file.slice(0, cut);
}

/** What is wrong with the import; undefined when nothing is. */
function complaint({ from, to, typeOnly }: Import): string | undefined {
  const area = areaOf(from);
  const target = areaOf(to);
  if (to.startsWith("..")) return `${from} reaches outside src: ${to}`;
  if (area === target || WIRING.has(area)) return undefined;
  if (!(area in MAY)) return `${from} belongs to no known area: give "${area}" its rule here`;
  if (EVERYBODY.has(target) && ((area !== "errors" && area !== "base") || target === "errors")) return undefined;
  if (MAY[area]?.includes(target)) return undefined;
  if (typeOnly && MAY_TYPES[area]?.includes(target)) return undefined;
  if (MAY_INDEX[area]?.includes(target))
    return to === `${target}/index.ts` ? undefined : `${from} imports ${to}: only ${target}/index.ts may be`;
  return `${from} may not import ${to}`;
}

/** A circle among the files, as a path that ends where it began; undefined when there is none. */
function circle(graph: Map<string, string[]>): string[] | undefined {
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (file: string): string[] | undefined => {
    const seen = trail.indexOf(file);
    if (seen >= 0) return [...trail.slice(seen), file];
    if (done.has(file)) return undefined;
    trail.push(file);
    for (const next of graph.get(file) ?? []) {
      const found = visit(next);
      if (found) return found;
    }
    trail.pop();
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const found = visit(file);
    if (found) return found;
  }
  return undefined;
}

const files = sources();
const imports = files.flatMap((file) => importsOf(file, readFileSync(path.join(SRC, file), "utf8")));

test("nobody imports what it may not", () => {
  assert.ok(imports.length > 0, "no import was found: the parser is broken");
  assert.deepEqual(
    imports.map(complaint).filter((text) => text !== undefined),
    [],
  );
});

test("no code goes round in a circle", () => {
  const graph = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const { from, to, typeOnly } of imports) if (!typeOnly) graph.get(from)?.push(to);
  assert.equal(circle(graph)?.join(" → "), undefined);
});

test("the rules catch what they are for", () => {
  const bad = (from: string, line: string) =>
    importsOf(from, line)
      .map(complaint)
      .filter((text) => text !== undefined).length;
  assert.equal(bad("iam/groups.ts", `import { listen } from "../transport/listen.ts";`), 1);
  assert.equal(bad("iam/groups.ts", `import { dispatch } from "../dispatch.ts";`), 1);
  assert.equal(bad("iam/groups.ts", `import {\n  a,\n  b,\n} from "../access/issuer.ts";`), 1);
  assert.equal(bad("iam/groups.ts", `import type { Transactor } from "../transaction.ts";`), 1);
  assert.equal(bad("iam/groups.ts", `import { repos } from "../registry/repos.ts";`), 1);
  assert.equal(bad("iam/groups.ts", `export * from "../registry/repos.ts";`), 1);
  assert.equal(bad("iam/groups.ts", `const late = await import("../transport/rest.ts");`), 1);
  assert.equal(bad("transport/rest.ts", `import { groups } from "../iam/index.ts";`), 1);
  assert.equal(bad("call.ts", `import { open } from "./store/index.ts";`), 1);
  assert.equal(bad("base/uid.ts", `import type { Call } from "../call.ts";`), 1);
  assert.equal(bad("unheard/of.ts", `import { notFound } from "../errors.ts";`), 1);
  assert.equal(
    bad(
      "iam/groups.ts",
      `import { notFound } from "../errors.ts";\nimport { a } from "../registry/index.ts";\nimport "../aip/page.ts";`,
    ),
    0,
  );
  assert.equal(bad("call.ts", `import type { Database } from "./store/index.ts";`), 0);
  assert.deepEqual(
    circle(
      new Map([
        ["a", ["b"]],
        ["b", ["c"]],
        ["c", ["b"]],
      ]),
    ),
    ["b", "c", "b"],
  );
});
