import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import test from "node:test";
import {
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  ScalarType,
} from "@bufbuild/protobuf";
import * as api from "@moorage/api";
import * as v1Advisory from "@moorage/api/v1/advisory";
import * as v1Iam from "@moorage/api/v1/iam";
import * as v1Libraries from "@moorage/api/v1/libraries";
import * as v1Registry from "@moorage/api/v1/registry";
import * as v1Tenant from "@moorage/api/v1/tenant";
import * as v1Vulnerabilities from "@moorage/api/v1/vulnerabilities";
import { http } from "@moorage/api/gen/google/api/annotations_pb";
import type { HttpRule } from "@moorage/api/gen/google/api/http_pb";

// Published numbers, names and paths stay as they are, because clients are compiled against them.
// wire-compatibility.json records them. `UPDATE_LEDGER=1 node --test
// packages/server/test/api/wire-compatibility.test.ts` adds new ones; it never removes what changed or disappeared.
const LEDGER = new URL("./wire-compatibility.json", import.meta.url);

interface Ledger {
  /** Message → field number → name and type. */
  messages: Record<string, Record<string, string>>;
  /** Enum → number → name. */
  enums: Record<string, Record<string, string>>;
  /** Method → request, answer and REST paths. */
  methods: Record<string, string[]>;
}

/** Every file of ours that the SDK exports, and the files of ours that those import. */
function ourFiles(): DescFile[] {
  const found = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    if (!file.proto.package.startsWith("moorage.") || found.has(file.name)) return;
    found.set(file.name, file);
    file.dependencies.forEach(add);
  };
  const modules: object[] = [api, v1Advisory, v1Iam, v1Libraries, v1Registry, v1Tenant, v1Vulnerabilities];
  for (const value of modules.flatMap((module): unknown[] => Object.values(module))) {
    if (isFile(value)) add(value);
  }
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function isFile(value: unknown): value is DescFile {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}

function typeOf(field: DescField): string {
  const single = (name: DescField["fieldKind"] | "value"): string => {
    if (field.message) return field.message.typeName;
    if (field.enum) return field.enum.typeName;
    return field.scalar === undefined ? name : ScalarType[field.scalar].toLowerCase();
  };
  if (field.fieldKind === "map") return `map<${ScalarType[field.mapKey].toLowerCase()}, ${single("value")}>`;
  return field.fieldKind === "list" ? `repeated ${single("value")}` : single(field.fieldKind);
}

function pathsOf(rule: HttpRule): string[] {
  const body = rule.body === "" ? "" : ` body ${rule.body}`;
  const own =
    rule.pattern.case === undefined
      ? []
      : [`${rule.pattern.case.toUpperCase()} ${rule.pattern.value as string}${body}`];
  return [...own, ...rule.additionalBindings.flatMap(pathsOf)];
}

function describe(): Ledger {
  const ledger: Ledger = { messages: {}, enums: {}, methods: {} };
  const addEnum = (of: DescEnum): void => {
    ledger.enums[of.typeName] = Object.fromEntries(of.values.map((value) => [String(value.number), value.name]));
  };
  const addMessage = (of: DescMessage): void => {
    ledger.messages[of.typeName] = Object.fromEntries(
      of.fields.map((field) => [String(field.number), `${field.name} ${typeOf(field)}`]),
    );
    of.nestedEnums.forEach(addEnum);
    of.nestedMessages.forEach(addMessage);
  };
  const addMethod = (of: DescMethod): void => {
    const paths = hasOption(of, http) ? pathsOf(getOption(of, http)) : [];
    ledger.methods[`${of.parent.typeName}/${of.name}`] = [`${of.input.typeName} → ${of.output.typeName}`, ...paths];
  };
  for (const file of ourFiles()) {
    file.enums.forEach(addEnum);
    file.messages.forEach(addMessage);
    for (const service of file.services) service.methods.forEach(addMethod);
  }
  return ledger;
}

/**
 * Differences between the record and the protos: `broken`, what the record has and the protos no longer have;
 * `unknown`, what the protos have and the record does not have yet.
 */
function compare(ledger: Ledger, now: Ledger): { broken: string[]; unknown: string[] } {
  const broken: string[] = [];
  const unknown: string[] = [];
  const side = (part: string, old: Record<string, string>, current: Record<string, string>): void => {
    for (const [key, value] of Object.entries(old))
      if (current[key] !== value) broken.push(`${part} ${key}: was ${value}, is ${current[key] ?? "gone"}`);
    for (const [key, value] of Object.entries(current)) if (!(key in old)) unknown.push(`${part} ${key}: ${value}`);
  };
  for (const part of ["messages", "enums"] as const) {
    for (const name of new Set([...Object.keys(ledger[part]), ...Object.keys(now[part])]))
      side(name, ledger[part][name] ?? {}, now[part][name] ?? {});
  }
  for (const name of new Set([...Object.keys(ledger.methods), ...Object.keys(now.methods)])) {
    const entries = (lines: string[] | undefined) => Object.fromEntries((lines ?? []).map((line) => [line, "yes"]));
    side(name, entries(ledger.methods[name]), entries(now.methods[name]));
  }
  return { broken, unknown };
}

function merged(ledger: Ledger, now: Ledger): Ledger {
  const numbers = (old: Ledger["enums"], current: Ledger["enums"]): Ledger["enums"] =>
    Object.fromEntries(
      [...new Set([...Object.keys(old), ...Object.keys(current)])]
        .toSorted()
        .map((name) => [name, { ...current[name], ...old[name] }]),
    );
  const names = [...new Set([...Object.keys(ledger.methods), ...Object.keys(now.methods)])].toSorted();
  return {
    messages: numbers(ledger.messages, now.messages),
    enums: numbers(ledger.enums, now.enums),
    methods: Object.fromEntries(
      names.map((name) => [name, [...new Set([...(ledger.methods[name] ?? []), ...(now.methods[name] ?? [])])]]),
    ),
  };
}

function readLedger(): Ledger {
  const ledger = JSON.parse(readFileSync(LEDGER, "utf8")) as Ledger;
  if (process.env["UPDATE_LEDGER"] !== "1") return ledger;
  const next = merged(ledger, describe());
  writeFileSync(LEDGER, `${JSON.stringify(next, null, 1)}\n`);
  return next;
}

test("no published number, name or path has changed", () => {
  const { broken, unknown } = compare(readLedger(), describe());
  assert.deepEqual(broken, [], "clients compiled against these would break");
  assert.deepEqual(unknown, [], "new: add it with UPDATE_LEDGER=1");
});

test("the comparison distinguishes a changed number, a lost method and a new field", () => {
  const old: Ledger = {
    messages: { M: { 1: "uid string" } },
    enums: { E: { 0: "NONE" } },
    methods: { "S/Get": ["A → B", "GET /a"] },
  };
  assert.deepEqual(compare(old, old), { broken: [], unknown: [] });
  assert.deepEqual(compare(old, { ...old, messages: { M: { 1: "uid bytes" } } }).broken, [
    "M 1: was uid string, is uid bytes",
  ]);
  assert.deepEqual(compare(old, { ...old, enums: {} }).broken, ["E 0: was NONE, is gone"]);
  assert.deepEqual(compare(old, { ...old, methods: { "S/Get": ["A → B", "GET /b"] } }), {
    broken: ["S/Get GET /a: was yes, is gone"],
    unknown: ["S/Get GET /b: yes"],
  });
  assert.deepEqual(compare(old, { ...old, messages: { M: { 1: "uid string", 2: "name string" } } }).unknown, [
    "M 2: name string",
  ]);
  assert.deepEqual(merged(old, { ...old, messages: { M: { 1: "uid bytes" } } }).messages, old.messages);
});

// The capabilities of docs/contract.md, "Capabilities and roles", by hand: the numbers are stored in tokens and in
// custom roles.
const CRUD = ["CREATE", "UPDATE", "LIST", "DELETE"];
const CAPABILITIES: Record<string, number> = {
  CAPABILITY_UNSPECIFIED: 0,
  ...fourFrom("CAP_IAM_GROUPS", 101),
  ...fourFrom("CAP_IAM_GROUP_INVITES", 201),
  ...fourFrom("CAP_IAM_ROLES", 301),
  ...fourFrom("CAP_IAM_ROLE_BINDINGS", 401),
  CAP_TENANT_SBOMS_LIST: 650,
  CAP_TENANT_VULN_REPORTS_LIST: 660,
  ...fourFrom("CAP_IAM_ACCOUNT_ASSOCIATIONS", 701),
  ...fourFrom("CAP_IAM_IDENTITY", 901),
  ...fourFrom("CAP_IAM_IDENTITY_PROVIDERS", 1301),
  ...fourFrom("CAP_EVENTS_SUBSCRIPTION", 1501),
  CAP_REPO_BLOBS_GET: 1600,
  ...fourFrom("CAP_REPO", 1603),
  ...fourFrom("CAP_MANIFEST", 1607),
  ...fourFrom("CAP_TAG", 1611),
  CAP_MANIFEST_METADATA_LIST: 1615,
  CAP_REFERRERS_LIST: 1616,
  CAP_VULN_REPORT_LIST: 1661,
  CAP_LIBRARIES_PYTHON_READ: 1810,
  CAP_LIBRARIES_PYTHON_PUBLISH: 1811,
  CAP_LIBRARIES_JAVA_READ: 1820,
  CAP_LIBRARIES_JAVA_PUBLISH: 1821,
  CAP_LIBRARIES_JAVASCRIPT_READ: 1830,
  CAP_LIBRARIES_JAVASCRIPT_PUBLISH: 1831,
  CAP_LIBRARIES_ARTIFACTS_LIST: 1803,
  ...fourFrom("CAP_ADVISORIES", 1900),
  CAP_ADVISORIES_APPROVE: 1904,
  CAP_TERMS_ACCEPT: 2201,
  CAP_TERMS_LIST: 2202,
  // Beyond those of the contract.
  CAP_EVENTS_LIST: 9002,
  CAP_IAM_AUDIT_LIST: 9001,
  CAP_OPERATIONS_LIST: 9003,
  CAP_LIBRARIES_ARTIFACTS_DELETE: 9004,
  CAP_LIBRARIES_UPSTREAMS_LIST: 9005,
  CAP_LIBRARIES_UPSTREAMS_CREATE: 9006,
  CAP_LIBRARIES_UPSTREAMS_UPDATE: 9007,
  CAP_LIBRARIES_UPSTREAMS_DELETE: 9008,
  CAP_LIBRARIES_POLICIES_CREATE: 9009,
  CAP_LIBRARIES_POLICIES_UPDATE: 9010,
  CAP_LIBRARIES_POLICIES_LIST: 9011,
  CAP_LIBRARIES_POLICIES_DELETE: 9012,
  CAP_LIBRARIES_BLOCKS_LIST: 9013,
  CAP_REPO_POLICY_UPDATE: 9014,
  CAP_OPERATIONS_FEEDS_UPDATE: 9015,
  CAP_SIGNERS_CREATE: 9016,
  CAP_SIGNERS_UPDATE: 9017,
  CAP_SIGNERS_DELETE: 9018,
  CAP_SIGNATURE_POLICIES_LIST: 9019,
  CAP_SIGNATURE_POLICIES_CREATE: 9020,
  CAP_SIGNATURE_POLICIES_UPDATE: 9021,
  CAP_SIGNATURE_POLICIES_DELETE: 9022,
  CAP_SIGNATURE_EXEMPTIONS_CREATE: 9023,
  CAP_SIGNATURE_EXEMPTIONS_DELETE: 9024,
  CAP_SIGNATURES_LIST: 9025,
  CAP_UNSIGNED_READ: 9026,
  CAP_SIGNERS_LIST: 9027,
  CAP_TAG_IMPORT: 9041,
  CAP_REGISTRY_UPSTREAMS_CREATE: 9042,
  CAP_REGISTRY_UPSTREAMS_UPDATE: 9043,
  CAP_REGISTRY_UPSTREAMS_LIST: 9044,
  CAP_REGISTRY_UPSTREAMS_DELETE: 9045,
  CAP_REPLICATIONS_CREATE: 9046,
  CAP_REPLICATIONS_UPDATE: 9047,
  CAP_REPLICATIONS_LIST: 9048,
  CAP_REPLICATIONS_DELETE: 9049,
  CAP_QUOTAS_UPDATE: 9050,
  CAP_USAGE_LIST: 9051,
  CAP_USAGE_REPORT: 9052,
};

function fourFrom(prefix: string, first: number): Record<string, number> {
  return Object.fromEntries(CRUD.map((verb, index) => [`${prefix}_${verb}`, first + index]));
}

test("the capabilities have the contract's numbers", () => {
  assert.deepEqual(
    Object.fromEntries(api.CapabilitySchema.values.map((value) => [value.name, value.number])),
    CAPABILITIES,
  );
});
