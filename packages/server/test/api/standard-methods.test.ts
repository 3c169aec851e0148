// The standard methods by AIP-132 (list), 133 (create), 134 (update), 135 (delete), 158 (pages), 161 (masks) and 193
// (errors): each case for every resource, by REST in both casings, by gRPC and by Connect. The four answers must be the
// same to the last detail.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import {
  GroupInvitesService,
  GroupsService,
  IdentitiesService,
  IdentityProvidersService,
  ReposService,
  RolesService,
  SignersService,
  TrustRootsService,
} from "@moorage/api";
import { type Grpc, openConnect, type Refused } from "../support/grpc.ts";
import { type Detail, type Json, type Platform, startPlatform } from "../support/platform.ts";
import { newTrustedRoot } from "../support/certificate.ts";
import { newKey } from "../support/signing.ts";
import { restCallOf } from "../support/rest-call.ts";

interface Kit {
  service: DescService;
  /** `Group`: the message's name without its package, and the end of the methods' names. */
  one: string;
  path: string;
  plural: string;
  /** A body that can be created; a new one at each call, unless it is given a name. */
  sample(name?: string): JsonObject;
  /** A body that cannot be created, and the fields that the error names, in this order. */
  bad: JsonObject;
  blamed: string[];
  /** One field of an update, inside a message if there is one, and its new value. */
  mask: string;
  change: JsonObject;
  /** An invalid update, and the field that the error names. */
  unfit: JsonObject & { mask: string };
  outputOnly: string;
  /** Whether creating a second one with the same name is an error. */
  isUnique: boolean;
}

let platform: Platform;
let connect: Grpc;
let root: string;
let owner: string;
let viewer: string;
let viewersToken: string;
let strangersToken: string;
let count = 0;
const named =
  (fields: JsonObject) =>
  (name = `kit-${(count += 1)}`): JsonObject => ({ name, ...fields });

const KITS: Kit[] = [
  {
    service: GroupsService,
    one: "Group",
    path: "/iam/v2/groups",
    plural: "groups",
    sample: named({ description: "one" }),
    bad: { name: "A", description: "d".repeat(4097) },
    blamed: ["name", "description"],
    mask: "description",
    change: { description: "two" },
    unfit: { mask: "name", name: "No!" },
    outputOnly: "resourceLimits",
    isUnique: true,
  },
  {
    service: ReposService,
    one: "Repo",
    path: "/registry/v2/repos",
    plural: "repos",
    sample: named({ catalogTier: "CATALOG_TIER_BASE", activeTags: ["a"] }),
    bad: { name: "A b", description: "d".repeat(4097) },
    blamed: ["name", "description"],
    mask: "catalogTier",
    change: { catalogTier: "CATALOG_TIER_AI" },
    unfit: { mask: "name", name: "" },
    outputOnly: "createTime",
    isUnique: true,
  },
  {
    service: IdentitiesService,
    one: "Identity",
    path: "/iam/v2/identities",
    plural: "identities",
    sample: named({
      claimMatch: { issuer: "https://issuer.example.com", subjectPattern: "one", claimPatterns: { a: "b" } },
    }),
    bad: { name: "A", claimMatch: { issuer: "no url" } },
    blamed: ["name", "claimMatch.issuer", "claimMatch.subject"],
    mask: "claimMatch.subjectPattern",
    change: { claimMatch: { subjectPattern: "two" } },
    unfit: { mask: "name", name: "No!" },
    outputOnly: "lastSeenTime",
    isUnique: false,
  },
  {
    service: RolesService,
    one: "Role",
    path: "/iam/v2/roles",
    plural: "roles",
    sample: named({ capabilities: ["CAP_REPO_LIST"] }),
    bad: { name: "A", capabilities: [0] },
    blamed: ["name", "capabilities"],
    mask: "capabilities",
    change: { capabilities: ["CAP_TAG_LIST"] },
    unfit: { mask: "name", name: "No!" },
    outputOnly: "createTime",
    isUnique: true,
  },
  {
    service: SignersService,
    one: "Signer",
    path: "/registry/v2/signers",
    plural: "signers",
    sample: named({ keys: [{ pem: newKey().pem }], description: "one" }),
    bad: { name: "A", keys: [{}] },
    blamed: ["name", "keys[0].pem"],
    mask: "description",
    change: { description: "two" },
    unfit: { mask: "name", name: "No!" },
    outputOnly: "createTime",
    isUnique: true,
  },
  {
    service: TrustRootsService,
    one: "TrustRoot",
    path: "/registry/v2/trustRoots",
    plural: "trustRoots",
    sample: named({ trustedRoot: newTrustedRoot() }),
    bad: { name: "A", trustedRoot: "{" },
    blamed: ["name"],
    mask: "trustedRoot",
    change: { trustedRoot: newTrustedRoot() },
    unfit: { mask: "name", name: "No!" },
    outputOnly: "createTime",
    isUnique: true,
  },
  {
    service: IdentityProvidersService,
    one: "IdentityProvider",
    path: "/iam/v2/identityProviders",
    plural: "identityProviders",
    sample: named({ oidc: { issuer: "https://login.example.com", clientId: "kit", additionalScopes: ["groups"] } }),
    bad: { name: "A", oidc: {} },
    blamed: ["name", "oidc.issuer", "oidc.clientId"],
    mask: "oidc.groupsClaim",
    change: { oidc: { groupsClaim: "groups" } },
    unfit: { mask: "name", name: "No!" },
    outputOnly: "createTime",
    isUnique: true,
  },
  {
    service: GroupInvitesService,
    one: "GroupInvite",
    path: "/iam/v2/groupInvites",
    plural: "groupInvites",
    sample: () => ({ roleUid: viewer, ttl: "3600s", singleUse: true }),
    bad: {},
    blamed: ["roleUid", "ttl"],
    mask: "singleUse",
    change: { singleUse: false },
    unfit: { mask: "email", email: "nobody" },
    outputOnly: "expirationTime",
    isUnique: false,
  },
];

before(async () => {
  platform = await startPlatform();
  connect = openConnect(platform.url);
  root = platform.organization;
  owner = await platform.token();
  viewer = await platform.role("viewer");
  viewersToken = await platform.token(await platform.identity(root, "viewer"));
  strangersToken = await platform.token(await platform.identity(root));
});
after(async () => {
  connect.close();
  await platform.close();
});

const isUnary = (method: DescMethod | undefined): method is DescMethodUnary => method?.methodKind === "unary";

function methodOf({ service }: Kit, name: string): DescMethodUnary {
  const method = service.methods.find((each) => each.name === name);
  if (!isUnary(method)) throw new Error(`there is no ${name}`);
  return method;
}

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const lowerFirst = (name: string): string => name[0]?.toLowerCase() + name.slice(1);

/** The names of the query's parameters in another casing, and the paths of a mask in it. */
function queryIn(path: string, casing: (name: string) => string): string {
  const [pathname = "", query] = path.split("?", 2);
  if (query === undefined) return path;
  const parameters = query.split("&").map((parameter) => {
    const [name = "", value = ""] = parameter.split("=", 2);
    return `${casing(name)}=${name === "update_mask" ? encodeURIComponent(casing(decodeURIComponent(value))) : value}`;
  });
  return `${pathname}?${parameters.join("&")}`;
}

/** The names of a body's fields in camelCase; the keys of maps stay as they are. */
function bodyInCamel(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((each) => bodyInCamel(each) ?? null);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [camel(name), bodyInCamel(inner) ?? null]));
}

interface Said {
  protocol: string;
  answer: JsonValue | Refused;
  isError: boolean;
}

/** Makes the call by every protocol. `request`: in JSON, camelCase. */
async function askAll(method: DescMethodUnary, request: JsonObject, token: string | undefined): Promise<Said[]> {
  const message: Message = fromJson(method.input, request);
  const rest = restCallOf(method, message);
  if (rest === undefined) throw new Error(`${method.name} has no REST binding`);
  const said: Said[] = [];
  for (const [protocol, casing, body] of [
    ["REST snake_case", snake, rest.body],
    ["REST camelCase", camel, bodyInCamel(rest.body)],
  ] as const) {
    const { status, text } = await platform.call(rest.verb, queryIn(rest.path, casing), { token, body });
    const answer = JSON.parse(text === "" ? "{}" : text) as JsonValue;
    said.push({
      protocol,
      isError: status !== 200,
      answer: status === 200 ? plain(toJson(method.output, fromJson(method.output, answer))) : answer,
    });
  }
  for (const [protocol, client] of [
    ["gRPC", platform.grpc],
    ["Connect", connect],
  ] as const) {
    const { message: answered, error } = await client.call(method, message, token);
    said.push({
      protocol,
      isError: answered === undefined,
      answer: answered === undefined ? error : plain(toJson(method.output, answered)),
    });
  }
  return said;
}

// Without the values that differ between protocols: of resources just created, and of page tokens.
function plain(json: JsonValue): JsonValue {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  return Object.fromEntries(
    Object.entries(json).filter(
      ([name]) => !/^(?:uid|name|code|url|keyId|redirectUri|nextPageToken|.*Time)$/.test(name),
    ),
  );
}

/** The answer that all protocols give; fails when they differ. */
async function agreed(
  method: DescMethodUnary,
  request: JsonObject,
  token: string | undefined,
  isError: boolean,
): Promise<JsonValue | Refused> {
  const [first, ...others] = await askAll(method, request, token);
  assert.ok(first);
  const asked = `${method.name} ${JSON.stringify(request)}`;
  for (const said of [first, ...others])
    assert.equal(said.isError, isError, `${said.protocol} ${asked}: ${JSON.stringify(said.answer)}`);
  for (const { protocol, answer } of others)
    assert.deepEqual(answer, first.answer, `${protocol} and ${first.protocol}: ${asked}`);
  return first.answer;
}

interface Rejection {
  code: number;
  reason: string;
  fields?: string[];
  violations?: [type: string, subject: string][];
  resource?: [type: string, name: string];
}

/** Asserts that every protocol refuses the request with the same, expected error. */
async function refused(
  method: DescMethodUnary,
  request: JsonObject,
  expected: Rejection,
  token: string | undefined = owner,
): Promise<void> {
  const { code, reason, fields, violations, resource } = expected;
  const error = (await agreed(method, request, token, true)) as Refused;
  const { details } = error;
  const of = (type: string): Detail[] =>
    details.filter((each) => each["@type"] === `type.googleapis.com/google.rpc.${type}`);
  assert.deepEqual([error.code, of("ErrorInfo").map((info) => info.reason)], [code, [reason]], JSON.stringify(error));
  assert.equal(of("ErrorInfo")[0]?.domain, `${method.parent.typeName.split(".")[1]}.moorage.dev`);
  assert.deepEqual(
    of("BadRequest").flatMap(({ fieldViolations = [] }) => [...new Set(fieldViolations.map(({ field }) => field))]),
    fields ?? [],
  );
  assert.deepEqual(
    of("PreconditionFailure").flatMap(({ violations: found = [] }) =>
      found.map(({ type, subject }) => [type, subject]),
    ),
    violations ?? [],
  );
  assert.deepEqual(
    of("ResourceInfo").map(({ resourceType, resourceName }) => [resourceType, resourceName]),
    resource === undefined ? [] : [resource],
  );
}

const INVALID = { code: 3, reason: "INVALID_ARGUMENT" };
const NOT_FOUND = { code: 5, reason: "NOT_FOUND" };
const HELD = { code: 9, reason: "FAILED_PRECONDITION" };
const NOWHERE = "0".repeat(16);

for (const kit of KITS) {
  const { one, plural, path } = kit;
  const field = lowerFirst(one);
  const type = `${kit.service.typeName.slice(0, kit.service.typeName.lastIndexOf("."))}.${one}`;
  const method = (verb: string): DescMethodUnary =>
    methodOf(kit, verb === "List" ? `List${plural[0]?.toUpperCase()}${plural.slice(1)}` : verb + one);
  const make = (name?: string, parent = root): Promise<Json> =>
    platform.ok("POST", `${path}/${parent}`, kit.sample(name));

  /** Creates one resource by each protocol, by REST in both casings. */
  const createByEach = async (parent: string): Promise<JsonValue[]> => {
    const { input, output } = method("Create");
    const said: JsonValue[] = [];
    for (const body of [kit.sample(), inSnake(kit.sample())]) {
      const { status, text } = await platform.call("POST", `${path}/${parent}`, { token: owner, body });
      assert.equal(status, 200, text);
      said.push(plain(toJson(output, fromJson(output, JSON.parse(text) as JsonValue))));
    }
    for (const client of [platform.grpc, connect]) {
      const { message, error } = await client.call(
        method("Create"),
        fromJson(input, { parent, [field]: kit.sample() }),
        owner,
      );
      assert.ok(message, JSON.stringify(error));
      said.push(plain(toJson(output, message)));
    }
    return said;
  };

  describe(plural, () => {
    test("AIP-132, 158: pages, orders and filters are accepted in both casings; the error names each invalid one", async () => {
      const { uid: place } = await platform.group(root);
      for (let at = 0; at < 3; at += 1) await make(undefined, place);
      const page = (await agreed(
        method("List"),
        { uidp: { childrenOf: place }, pageSize: 2, orderBy: "uid desc", skip: 1 },
        owner,
        false,
      )) as JsonObject;
      assert.deepEqual([(page[plural] as JsonValue[]).length, page["totalCount"], page["skipped"]], [2, "3", 1]);
      await agreed(
        method("List"),
        { uidp: { descendantsOf: place, ids: [place], ancestorsOf: place }, orderBy: "create_time, uid" },
        owner,
        false,
      );
      const { nextPageToken } = await platform.ok("GET", `${path}?uidp.children_of=${place}&page_size=1`);
      await agreed(method("List"), { pageToken: nextPageToken, pageSize: 3 }, owner, false);
      const wrong: [request: JsonObject, fields: string[]][] = [
        [{ pageSize: -1 }, ["page_size"]],
        [{ skip: -1 }, ["skip"]],
        [{ pageSize: -1, skip: -1 }, ["page_size", "skip"]],
        [{ orderBy: "nothing" }, ["order_by"]],
        [{ orderBy: "uid up" }, ["order_by"]],
        [{ orderBy: "uid, uid" }, ["order_by"]],
        [{ pageToken: "x" }, ["page_token"]],
        [{ pageToken: nextPageToken, orderBy: "uid desc" }, ["page_token"]],
        [{ pageToken: nextPageToken, uidp: { inRoot: true } }, ["page_token"]],
      ];
      for (const [request, fields] of wrong) await refused(method("List"), request, { ...INVALID, fields });
    });

    test("AIP-133: every protocol creates the same; one error names every invalid field of a body", async () => {
      const { uid } = await platform.group(root);
      const [first, ...others] = await createByEach(uid);
      assert.notDeepEqual(first, {});
      for (const other of others) assert.deepEqual(other, first);
      await refused(method("Create"), { parent: root, [field]: kit.bad }, { ...INVALID, fields: kit.blamed });
      const missing = `${root}/${NOWHERE}`;
      await refused(
        method("Create"),
        { parent: missing, [field]: kit.sample() },
        { ...NOT_FOUND, resource: ["moorage.iam.v2.Group", missing] },
      );
      if (!kit.isUnique) return;
      const { name } = await make(undefined, uid);
      await refused(
        method("Create"),
        { parent: uid, [field]: kit.sample(name) },
        { code: 6, reason: "ALREADY_EXISTS", resource: [type, name] },
      );
    });

    test("AIP-134, 161: a mask in both casings changes what it names; a path that cannot be updated is an error on updateMask", async () => {
      const { uid } = await make();
      const changed = await agreed(
        method("Update"),
        { [field]: { uid, ...kit.change }, updateMask: kit.mask },
        owner,
        false,
      );
      assert.notDeepEqual(changed, {});
      for (const updateMask of ["uid", kit.outputOnly, "nothing", "nothing.more", `${kit.mask},nothing`]) {
        await refused(
          method("Update"),
          { [field]: { uid, ...kit.change }, updateMask },
          { ...INVALID, fields: ["updateMask"] },
        );
      }
      const { mask, ...unfit } = kit.unfit;
      await refused(method("Update"), { [field]: { uid, ...unfit }, updateMask: mask }, { ...INVALID, fields: [mask] });
      const missing = `${root}/${NOWHERE}`;
      await refused(
        method("Update"),
        { [field]: { uid: missing, ...kit.change }, updateMask: kit.mask },
        { ...NOT_FOUND, resource: [type, missing] },
      );
    });

    test("AIP-131, 135, 193: every protocol answers alike for missing and hidden resources, missing rights and missing tokens", async () => {
      const { uid } = await make();
      const missing = `${root}/${NOWHERE}`;
      for (const verb of ["Get", "Delete"]) {
        await refused(method(verb), { uid: missing }, { ...NOT_FOUND, resource: [type, missing] });
        await refused(method(verb), { uid: "nothing" }, { ...NOT_FOUND, resource: [type, "nothing"] });
        await refused(method(verb), { uid }, { ...NOT_FOUND, resource: [type, uid] }, strangersToken);
        await refused(method(verb), { uid }, { code: 16, reason: "UNAUTHENTICATED" }, "x.y.z");
      }
      await agreed(method("Get"), { uid }, owner, false);
      await refused(method("Delete"), { uid }, { code: 7, reason: "PERMISSION_DENIED" }, viewersToken);
      await refused(
        method("Update"),
        { [field]: { uid, ...kit.change }, updateMask: kit.mask },
        { code: 7, reason: "PERMISSION_DENIED" },
        viewersToken,
      );
      assert.deepEqual((await platform.call("DELETE", `${path}/${uid}`, { token: owner })).text, "");
      await refused(method("Get"), { uid }, { ...NOT_FOUND, resource: [type, uid] });
    });
  });
}

function inSnake(value: JsonObject): JsonObject {
  const isObject = (inner: JsonValue): inner is JsonObject =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [snake(name), isObject(inner) ? inSnake(inner) : inner]),
  );
}

test("AIP-135: by every protocol, a resource that is not empty, in use or built in is not deleted, and the error lists every violation", async () => {
  const { uid: group } = await platform.group(root);
  await platform.repo(group);
  const identity = await platform.identity(group);
  const role = await platform.ok("POST", `/iam/v2/roles/${group}`, { name: "bound", capabilities: ["CAP_REPO_LIST"] });
  await platform.bind(group, identity, role.uid);
  const deleting = (service: DescService, one: string): DescMethodUnary => {
    const found = service.methods.find(({ name }) => name === `Delete${one}`);
    if (!isUnary(found)) throw new Error(`there is no Delete${one}`);
    return found;
  };
  // A repo, an identity and a role.
  const left = Array.from({ length: 3 }, (): [string, string] => ["RESOURCE_NOT_EMPTY", group]);
  await refused(deleting(GroupsService, "Group"), { uid: group }, { ...HELD, violations: left });
  await refused(
    deleting(RolesService, "Role"),
    { uid: role.uid },
    { ...HELD, violations: [["RESOURCE_IN_USE", role.uid]] },
  );
  await refused(
    deleting(RolesService, "Role"),
    { uid: viewer },
    { ...HELD, violations: [["BUILT_IN_RESOURCE", viewer]] },
  );
});
