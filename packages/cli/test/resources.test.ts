// The commands that are written out of the API's descriptors.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Command } from "commander";
import { test } from "node:test";
import { sized } from "../../server/test/support/extent.ts";
import { programFor } from "../src/program.ts";
import { NOUNS } from "../src/gen/resources.ts";
import type { ArgumentSpec, MethodSpec } from "../src/resources/spec.ts";
import { methodsOf } from "../src/resources/method-data.ts";
import { tasksOf } from "../src/nouns.ts";
import { environment, LAUNCHER, moorage } from "./commands.ts";
import { openQuick } from "./quick.ts";
import { serveHere } from "./server-here.ts";

const DIGEST = `sha256:${"0".repeat(64)}`;
const UID = "f".repeat(40);

test("every method of the API is a command with help and an example", async () => {
  for (const noun of NOUNS) {
    const program = await programFor(noun.name);
    const command = program.commands.find((each) => each.name() === noun.name);
    assert.ok(command, noun.name);
    const [methods, tasks] = await Promise.all([methodsOf(noun), tasksOf(noun.name)]);
    for (const { verb, method } of methods) {
      // A command that is made by hand in place of a whole noun, such as `eol`.
      if (command.commands.length === 0 && verb !== noun.name) continue;
      const own: Command | undefined =
        verb === noun.name
          ? command
          : command.commands.find((each) => each.name() === verb || each.aliases().includes(verb));
      assert.ok(own, `${noun.name} ${verb}`);
      assert.notEqual(own.description(), "", method);
      let help = "";
      own.configureOutput({ writeOut: (text: string) => (help += text) });
      own.outputHelp();
      assert.match(help, new RegExp(`^Usage: moorage ${noun.name}`), method);
      // Those that are made by hand have their examples in docs/cli, with what they print.
      const isByHand = own === command || tasks?.names.includes(own.name()) === true;
      if (!isByHand) assert.match(help, /\nExamples?:\n {2}moorage /, method);
      for (const argument of own.registeredArguments)
        assert.match(help, new RegExp(`\n {2}${argument.name()} +\\S`), method);
    }
  }
});

test("help of commands is found as `help NOUN VERB` and as `NOUN VERB --help`", async () => {
  const [one, other] = await Promise.all([
    moorage(["help", "repos", "create"]),
    moorage(["repos", "create", "--help"]),
  ]);
  assert.deepEqual([one.code, one.stdout, one.stderr], [0, other.stdout, ""]);
  assert.match(one.stdout, /^Usage: moorage repos create \[options\] <name>\n\nMake a repo in a group\./);
  assert.match(one.stdout, /\n {2}moorage repos create acme\/team\/name\n/);
  const all = await moorage([]);
  assert.equal(all.code, 0);
  for (const section of ["Registry", "Access", "Security", "Events", "Operations of an installation", "This command"])
    assert.ok(all.stdout.includes(`\n${section}:\n`), section);
  assert.deepEqual(
    all.stdout.split("\n").filter((line) => line.length > 80),
    [],
  );
});

test("every command of the API reaches its method", async (t) => {
  const { done, as } = await openQuick(t);
  await done("groups", "create", "acme/team");
  await done("repos", "create", "acme/team/app");
  await done("tags", "create", "acme/team/app:1.2", "--digest", DIGEST);
  const calls: [string, string[]][] = [];
  for (const noun of NOUNS) {
    // Hand-made commands of the same name have tests of their own.
    const [methods, tasks] = await Promise.all([methodsOf(noun), tasksOf(noun.name)]);
    for (const method of methods.filter(({ verb }) => !(tasks?.names ?? []).includes(verb)))
      calls.push([method.method, wordsOf(noun.name, method)]);
  }
  assert.ok(calls.length > 90, `${calls.length} methods`);
  const failed: string[] = [];
  const next = calls.values();
  const work = async (): Promise<void> => {
    for (const [method, words] of next) {
      const { code, stderr } = await as(...words);
      // The resources of the examples are not there, and their values are no good ones: but the server must know the
      // method, and every field that is sent.
      if (code === 2 || code > 7 || /UNIMPLEMENTED|INTERNAL|unknown (?!images)|unexpected/i.test(stderr))
        failed.push(`${method}: moorage ${words.join(" ")}: ${code} ${stderr}`);
    }
  };
  await Promise.all([work(), work(), work()]);
  assert.deepEqual(failed, []);
});

function wordsOf(noun: string, method: MethodSpec): string[] {
  const required = method.flags
    .filter((field) => field.required === true)
    .flatMap((field) => {
      const flag =
        field.name === "url"
          ? `--${noun.replace(/s$/, "")}-url`
          : `--${field.name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      if (field.type === "message" && field.repeated !== true) return [];
      return [flag, field.ref === undefined ? sampleOf(field.type, field.values) : UID];
    });
  const verb = method.verb === noun ? [] : [method.verb];
  const change = method.kind === "update" ? ["-f", "/dev/stdin"] : [];
  return [
    noun,
    ...verb,
    ...method.arguments.map(wordFor),
    ...(change.length > 0 ? updateFlags(method) : required),
    ...(method.kind === "delete" ? ["--yes"] : []),
  ];
}

/** One flag of each type that an update takes. */
function updateFlags(method: MethodSpec): string[] {
  const field = method.flags.find(
    ({ type, ref, repeated }) => type === "string" && ref === undefined && repeated !== true,
  );
  return field === undefined
    ? ["--clear", method.flags[0]?.name ?? ""]
    : [`--${field.name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, "text"];
}

function sampleOf(type: string, values: readonly string[] | undefined): string {
  if (values !== undefined) return values[0] ?? "";
  const samples: Record<string, string> = {
    timestamp: "2026-01-31",
    duration: "1h",
    message: "{}",
    json: "{}",
    int32: "1",
    int64: "1",
  };
  return samples[type] ?? "text";
}

function wordFor({ form, kind, root }: ArgumentSpec): string {
  if (form === "image" || form === "tag") return "acme/team/app:1.2";
  if (form === "text") return "text";
  if (form === "new") return kind === "repo" ? "acme/team/app:1.3" : root === true ? "acme/new" : "acme/team/name";
  return kind === "group" ? "acme/team" : kind === "repo" ? "acme/team/app" : kind === undefined ? UID : UID;
}

// What each resource is made with, by which name it is found, and what of it can be changed.
const RESOURCES: readonly {
  noun: string;
  create: string[];
  name: string;
  update?: string[];
  changed?: [field: string, value: unknown];
  /** Where lists find it. */
  place?: string;
}[] = [
  {
    noun: "groups",
    create: ["acme/web"],
    name: "acme/web",
    update: ["--description", "Web"],
    changed: ["description", "Web"],
    place: "acme",
  },
  {
    noun: "repos",
    create: ["acme/team/api", "--catalog-tier", "base", "--bundles", "a", "--bundles", "b"],
    name: "acme/team/api",
    update: ["--sync-config-source", "registry.example/team/api", "--sync-config-interval", "2h"],
    changed: ["catalogTier", "CATALOG_TIER_BASE"],
    place: "acme/team",
  },
  { noun: "tags", create: ["acme/team/app:v1", "--digest", DIGEST], name: "acme/team/app:v1", place: "acme/team/app" },
  {
    noun: "identities",
    create: ["acme/team/bot", "--claim-match-issuer", "https://ci.example", "--claim-match-subject", "bot"],
    name: "acme/team/bot",
    update: [
      "--claim-match-claims",
      "ref=main",
      "--claim-match-issuer",
      "https://ci.example",
      "--claim-match-subject",
      "bot",
    ],
    changed: [
      "claimMatch",
      { issuer: "https://ci.example", subject: "bot", claims: { ref: "main" }, claimPatterns: {} },
    ],
    place: "acme/team",
  },
  {
    noun: "roles",
    create: ["acme/team/reader", "--capabilities", "repo.list,tag.list"],
    name: "acme/team/reader",
    update: ["--description", "reads"],
    changed: ["description", "reads"],
    place: "acme/team",
  },
  {
    noun: "bindings",
    create: ["acme/team", "--identity-uid", "acme/team/ci", "--role-uid", "viewer"],
    name: "acme/team:ci:viewer",
    update: ["--role-uid", "editor"],
    place: "acme/team",
  },
  {
    noun: "providers",
    create: [
      "acme/people",
      "--oidc-issuer",
      "https://login.example",
      "--oidc-client-id",
      "moorage",
      "--default-role",
      "viewer",
    ],
    name: "acme/people",
    update: ["--description", "our people"],
    changed: ["description", "our people"],
    place: "acme",
  },
  {
    noun: "subscriptions",
    create: ["acme/team", "--sink", "http://127.0.0.1:9/x"],
    name: "acme/team:http://127.0.0.1:9/x",
    place: "acme",
  },
  {
    noun: "associations",
    create: ["acme/team", "--name", "cloud", "--amazon-account", "123456789012"],
    name: "acme/team",
    update: ["--description", "ours"],
    changed: ["description", "ours"],
    place: "acme",
  },
];

test("each resource is made, shown, listed, changed and deleted by its name", async (t) => {
  const { done, as } = await openQuick(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "true" });
  await done("groups", "create", "acme/team");
  await done("repos", "create", "acme/team/app");
  await done("identities", "create", "acme/team/ci");
  for (const { noun, create, name, update, changed, place } of RESOURCES) {
    const made = JSON.parse(await done(noun, "create", ...create, "-o", "json")) as { uid: string };
    const shown = JSON.parse(await done(noun, "get", name, "-o", "json")) as { uid: string };
    assert.equal(shown.uid, made.uid, name);
    assert.equal((await done(noun, "get", made.uid, "-o", "id")).trim(), made.uid);
    const listed = (await done(noun, "list", ...(place === undefined ? [] : [place]), "-o", "id")).split("\n");
    assert.ok(listed.includes(made.uid), `${noun} list: ${listed.join()}`);
    if (update !== undefined) {
      const after = JSON.parse(await done(noun, "update", name, ...update, "-o", "json")) as Record<string, unknown>;
      if (changed !== undefined) assert.deepEqual(after[changed[0]], changed[1], noun);
    }
    const [gone] = [await done(noun, "delete", made.uid, "--yes")];
    assert.equal(gone, "");
    assert.equal((await as(noun, "get", made.uid)).code, 3, noun);
  }
});

test("a mapping, an invite, an advisory and a scanner are found by what people call them", async (t) => {
  const { done, as } = await openQuick(t);
  await done("groups", "create", "acme/team");
  await done("providers", "create", "acme/people", "--oidc-issuer", "https://login.example", "--oidc-client-id", "x");
  await done(
    "mappings",
    "create",
    "acme/people",
    "--external-group-id",
    "devs",
    "--role-uid",
    "viewer",
    "--scope",
    "acme/team",
  );
  const mapping = JSON.parse(await done("mappings", "get", "acme/people:devs", "-o", "json")) as {
    externalGroupId: string;
  };
  assert.equal(mapping.externalGroupId, "devs");
  assert.equal((await as("mappings", "delete", "acme/people:devs", "--yes")).code, 0);

  const invite = JSON.parse(
    await done(
      "invites",
      "create",
      "acme/team",
      "--role-uid",
      "viewer",
      "--email",
      "ada@example.com",
      "--ttl",
      "24h",
      "-o",
      "json",
    ),
  ) as { keyId: string; code: string };
  assert.notEqual(invite.code, "");
  assert.match(await done("invites", "get", invite.keyId, "-o", "jsonpath={.email}"), /ada@example\.com/);
  assert.equal((await as("invites", "delete", "acme/team:ada@example.com", "--yes")).code, 0);

  const advisory = JSON.parse(
    await done(
      "advisories",
      "create",
      "acme/team",
      "--artifact-name",
      "app",
      "--component-name",
      "openssl",
      "--aliases",
      "CVE-2026-0001",
      "-o",
      "json",
    ),
  ) as { advisoryId: string };
  assert.equal((await as("advisories", "get", advisory.advisoryId)).code, 0);
  assert.equal((await as("advisories", "delete", advisory.advisoryId, "--yes")).code, 0);
});

test("a resource comes from a file or from standard input, and flags go before it", async (t) => {
  const { done, as, folder, env } = await openQuick(t);
  const file = join(folder, "repo.yaml");
  writeFileSync(file, "description: From a file\nbundles: [one]\ncatalogTier: CATALOG_TIER_BASE\n");
  const made = JSON.parse(
    await done("repos", "create", "acme/app", "-f", file, "--description", "By a flag", "-o", "json"),
  ) as Record<string, unknown>;
  assert.deepEqual(
    [made["description"], made["bundles"], made["catalogTier"]],
    ["By a flag", ["one"], "CATALOG_TIER_BASE"],
  );

  const piped = await piping(["repos", "update", "acme/app", "-f", "-", "-o", "json"], '{"description": "Piped"}', env);
  assert.equal((JSON.parse(piped.stdout) as { description: string }).description, "Piped", piped.stderr);
  const readme = await piping(["repos", "update-readme", "acme/app", "--content", "-"], "# App\n", env);
  assert.equal(readme.code, 0, readme.stderr);
  assert.equal(await done("repos", "readme", "acme/app", "-o", "jsonpath={.content}"), "# App\n");

  // What the server wrote can be given back: what it alone sets is left out of the mask.
  const again = await piping(
    ["repos", "update", "acme/app", "-f", "-"],
    await done("repos", "get", "acme/app", "-o", "yaml"),
    env,
  );
  assert.equal(again.code, 0, again.stderr);
  const cleared = JSON.parse(await done("repos", "update", "acme/app", "--clear", "description", "-o", "json")) as {
    description: string;
  };
  assert.equal(cleared.description, "");

  const names = await piping(["repos", "delete", "-", "--yes"], "acme/app\n\n", env);
  assert.deepEqual([names.code, names.stdout, names.stderr], [0, "", "Deleted the repo acme/app\n"]);

  for (const [content, words] of [
    ["a: [", /--file: standard input is neither YAML nor JSON: /],
    ["- a", /--file: standard input must be an object/],
    ["a: 1\n---\nb: 2", /--file: standard input has several documents/],
    ["", /--file: standard input is empty/],
  ] as const) {
    const wrong = await piping(["repos", "create", "acme/x", "-f", "-"], content, env);
    assert.deepEqual([wrong.code, wrong.stderr.trimEnd().split("\n").length], [2, 1], wrong.stderr);
    assert.match(wrong.stderr, words);
  }
  const unknown = await piping(["repos", "create", "acme/x", "-f", "-"], "descripton: x", env);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /^moorage: INVALID_ARGUMENT: .*descripton/);
  assert.equal((await as("repos", "create", "acme/x", "-f", join(folder, "none.yaml"))).code, 2);
});

/** Runs a command with a text on its standard input. */
function piping(
  args: string[],
  input: string,
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [LAUNCHER, ...args], { env: environment(env) });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += String(chunk)));
    child.stderr.on("data", (chunk) => (stderr += String(chunk)));
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(input);
  });
}

test("a list takes all pages, so many items, and its place", async (t) => {
  const { done, as } = await openQuick(t);
  await done("groups", "create", "acme/team");
  for (const path of ["acme/a", "acme/b", "acme/team/c", "acme/team/d"]) await done("repos", "create", path);
  const names = async (...args: string[]): Promise<string[]> =>
    (await done("repos", "list", ...args, "-o", "name")).trim().split("\n");
  assert.deepEqual((await names("--page-size", "1")).toSorted(), ["acme/a", "acme/b", "acme/team/c", "acme/team/d"]);
  assert.deepEqual(await names("acme/team"), ["acme/team/c", "acme/team/d"]);
  assert.deepEqual(await names("--in", "acme/team", "--order-by", "name desc"), ["acme/team/d", "acme/team/c"]);
  assert.deepEqual(await names("--children-of", "acme"), ["acme/a", "acme/b"]);
  assert.deepEqual(await names("--limit", "2", "--skip", "1", "--order-by", "name"), ["acme/b", "acme/team/c"]);
  assert.deepEqual(await names("--name", "c"), ["acme/team/c"]);
  assert.equal((await as("repos", "list", "acme", "--root")).code, 2);
});

/** Many more than a pipe holds. */
const TAGS = sized(40_000, 100_000);

test(`a list of ${TAGS} tags ends with its reader`, { timeout: 300_000 }, async (t) => {
  const quick = await openQuick(t);
  const made = JSON.parse(await quick.done("repos", "create", "acme/app", "-o", "json")) as { uid: string };
  await quick.close();
  const database = new DatabaseSync(join(quick.folder, "data", "moorage.db"));
  database.exec(`
    with recursive s(n) as (select 1 union all select n + 1 from s where n < ${TAGS})
    insert into tags (uid, parent, name, digest, deprecated, bundles, create_time, update_time)
    select '${made.uid}/' || printf('%016x', n), '${made.uid}', printf('v%06d', n), '${DIGEST}', 0, '[]', 1795000000000, 1795000000000 from s`);
  database.close();
  const { url } = await serveHere(t, quick.folder);
  const env = { MOORAGE_TOKEN: (await quick.ok("token")).trim(), MOORAGE_URL: url };

  const command = `"${process.execPath}" "${LAUNCHER}" tags list acme/app -o name --debug | head -n 3`;
  const first = await inBash(command, env);
  assert.deepEqual(first.stdout.trim().split("\n"), ["acme/app:v000001", "acme/app:v000002", "acme/app:v000003"]);
  assert.equal(first.status, "0 0", first.stderr);
  // A pipe holds 64 KiB, so a few pages are asked for, of 500.
  const pages = first.stderr.split("\n").filter((line) => /GET \S+\/registry\/v2\/tags\?[^ ]*$/.test(line)).length;
  assert.ok(pages >= 1 && pages < TAGS / 1_000, `${pages} pages`);

  const all = await inBash(`"${process.execPath}" "${LAUNCHER}" tags list acme/app -o id | wc -l`, env);
  assert.deepEqual([all.status, all.stdout.trim()], ["0 0", String(TAGS)], all.stderr);
});

/** Runs a pipe of two commands in bash: its output, and the exit codes of both. */
function inBash(
  command: string,
  env: Record<string, string>,
): Promise<{ status: string; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn("bash", ["-c", `${command}; echo "status \${PIPESTATUS[*]}" >&2`], { env: environment(env) });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += String(chunk)));
    child.stderr.on("data", (chunk) => (stderr += String(chunk)));
    child.on("close", () => resolve({ status: /^status (.*)$/m.exec(stderr)?.[1] ?? "", stdout, stderr }));
  });
}
