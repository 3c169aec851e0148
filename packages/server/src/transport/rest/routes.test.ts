import assert from "node:assert/strict";
import { test } from "node:test";
import type { DescService } from "@bufbuild/protobuf";
import * as api from "@moorage/api";
import {
  GroupsService,
  IdentitiesService,
  ImagesService,
  PingService,
  ReposService,
  RoleBindingsService,
  TagsService,
} from "@moorage/api";
import fc from "fast-check";
import * as v1Advisory from "@moorage/api/v1/advisory";
import * as v1Iam from "@moorage/api/v1/iam";
import * as v1Libraries from "@moorage/api/v1/libraries";
import * as v1Registry from "@moorage/api/v1/registry";
import * as v1Vulnerabilities from "@moorage/api/v1/vulnerabilities";
import { bindingsOf, compileRoutes } from "./routes.ts";
import { matchTemplate, parseTemplate } from "./path-template.ts";

const SERVICES = [
  GroupsService,
  IdentitiesService,
  ImagesService,
  PingService,
  ReposService,
  RoleBindingsService,
  TagsService,
];
const bindings = bindingsOf(SERVICES);
/** Every service of the API, of both versions. */
const EVERY_SERVICE = [api, v1Advisory, v1Iam, v1Libraries, v1Registry, v1Vulnerabilities].flatMap((file) =>
  Object.values<unknown>({ ...file }).filter(
    (each): each is DescService => typeof each === "object" && each !== null && "methods" in each && "typeName" in each,
  ),
);
const routes = compileRoutes(bindings, (binding) => binding);

function lead(verb: string, path: string): unknown {
  const match = routes.match(verb, path);
  if (match === undefined) return undefined;
  if ("allow" in match) return match.allow;
  return [match.target.method.name, ...match.target.template.variables.map(({ index }) => match.values[index])];
}

test("paths match their methods, the more specific first", () => {
  assert.deepEqual(lead("GET", "/registry/v2/repos"), ["ListRepos"]);
  assert.deepEqual(lead("GET", "/registry/v2/repos/a"), ["GetRepo", "a"]);
  assert.deepEqual(lead("GET", "/registry/v2/repos/a/b/c"), ["GetRepo", "a/b/c"]);
  assert.deepEqual(lead("GET", "/registry/v2/repos/a%2Fb"), ["GetRepo", "a%2Fb"]);
  assert.deepEqual(lead("POST", "/registry/v2/repos/a/b"), ["CreateRepo", "a/b"]);
  assert.deepEqual(lead("PATCH", "/registry/v2/repos/a/b"), ["UpdateRepo", "a/b"]);
  assert.deepEqual(lead("GET", "/registry/v2/repos/a/b/readme"), ["GetRepoReadme", "a/b"]);
  assert.deepEqual(lead("GET", "/registry/v2/repos/readme"), ["GetRepo", "readme"]);
  assert.deepEqual(lead("GET", "/registry/v2/repos/a/b/digests/sha256:00/size"), ["GetSize", "a/b", "sha256:00"]);
  assert.deepEqual(lead("GET", "/registry/v2/repos/a/digests/x/architectures"), ["GetArchitectures", "a", "x"]);
  assert.deepEqual(lead("GET", "/ping/v2/ping"), ["Ping"]);
});

test("no path of a method is taken by the `**` of another, whatever verb it has", () => {
  const all = bindingsOf(EVERY_SERVICE);
  const every = compileRoutes(all, (binding) => binding);
  const organization = "0".repeat(40);
  const uids = [
    organization,
    `${organization}/${"1".repeat(16)}`,
    `${organization}/${"1".repeat(16)}/${"2".repeat(16)}`,
  ];
  assert.ok(all.length > 200, String(all.length));
  for (const binding of all) {
    const { template, verb, method } = binding;
    // A digest or a tag beside a uid is one segment.
    const isUid = (index: number): boolean => template.variables[0]?.index === index;
    for (const uid of uids) {
      const rest = template.segments.map((segment, index) =>
        segment.startsWith("*") ? (isUid(index) ? uid : "sha256:00") : segment,
      );
      const end = template.verb === "" ? "" : `:${template.verb}`;
      const path = [template.collection, ...rest].join("/") + end;
      const match = every.match(verb, path);
      assert.ok(match !== undefined && "target" in match, `${verb} ${path}`);
      assert.equal(match.target.method.toString(), method.toString(), `${verb} ${path}`);
      assert.deepEqual(
        template.variables.map(({ index }) => match.values[index]),
        template.variables.map(({ index }) => rest[index]),
        `${verb} ${path}`,
      );
      for (const other of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        const found = every.match(other, path);
        assert.ok(
          found === undefined || "allow" in found || found.target.template.shape === template.shape,
          `${other} ${path} is taken by another method`,
        );
      }
    }
  }
});

test("an additional binding is a path of its own, and an empty variable does not match", () => {
  assert.deepEqual(lead("POST", "/iam/v2/groups"), ["CreateGroup"]);
  assert.deepEqual(lead("POST", "/iam/v2/groups/a"), ["CreateGroup", "a"]);
  assert.equal(lead("POST", "/iam/v2/groups/"), undefined);
});

test("custom verbs match", () => {
  assert.deepEqual(lead("GET", "/iam/v2/identities:lookupIdentity"), ["LookupIdentity"]);
  assert.deepEqual(lead("POST", "/iam/v2/roleBindings:batchCreate"), ["BatchCreateRoleBindings"]);
  assert.deepEqual(lead("POST", "/registry/v2/tags/a/b:promote"), ["PromoteTags", "a/b"]);
  assert.deepEqual(lead("POST", "/registry/v2/tags/a%2Fb:rollback"), ["RollbackTags", "a%2Fb"]);
  assert.deepEqual(lead("POST", "/registry/v2/tags/a/b:other"), ["CreateTag", "a/b:other"]);
  assert.equal(lead("GET", "/registry/v2/repos/a:previewTagRetention"), "POST");
  assert.equal(lead("POST", "/iam/v2/roleBindings:noSuch"), undefined);
  assert.equal(lead("GET", "/iam/v2/roleBindings:batchCreate"), "POST");
});

test("a verb after a variable is matched before the plain variable", () => {
  const template = parseTemplate("/iam/v2/accountAssociations/{uid=**}:checkAccountAssociation");
  assert.deepEqual(matchTemplate(template, "/a/b:checkAccountAssociation"), ["a/b"]);
  assert.equal(matchTemplate(template, "/a/b"), undefined);
  assert.equal(matchTemplate(template, "/:checkAccountAssociation"), undefined);
});

test("the beta prefix matches the same methods as the plain one", () => {
  for (const { verb, template } of bindings) {
    const rest =
      template.segments.map((segment) => `/${segment.replaceAll("*", "x")}`).join("") +
      (template.verb && `:${template.verb}`);
    const plain = routes.match(verb, template.collection + rest);
    assert.ok(plain && "target" in plain);
    assert.deepEqual(routes.match(verb, template.collection.replace("/v2/", "/v2beta1/") + rest), plain);
  }
});

test("for a wrong method the allowed ones are those of the most specific path", () => {
  assert.equal(lead("PUT", "/registry/v2/repos/a"), "DELETE, GET, HEAD, PATCH, POST");
  assert.equal(lead("DELETE", "/registry/v2/repos/a/readme"), "GET, HEAD, PATCH");
  assert.equal(lead("OPTIONS", "/iam/v2/groups"), "GET, HEAD, POST");
  assert.equal(lead("__proto__", "/iam/v2/groups"), "GET, HEAD, POST");
});

test("unknown paths do not match", () => {
  const short = ["", "*", "/", "//", "///", "/iam", "/iam/v2", "/iam/v2/", "/v2/"];
  const other = [
    "/iam/v1/groups",
    "/iam/v2/group",
    "/iam/v2/groupsx",
    "/registry/v2/groups",
    "/registry/v2/repos/",
    "/ping/v2/ping/",
    "/constructor/v2/x",
  ];
  for (const path of [...short, ...other]) assert.equal(lead("GET", path), undefined, path);
  assert.equal(routes.area("/iam/v2/none"), "iam");
  assert.equal(routes.area("/constructor/v2"), undefined);
});

test("a template of a form that is not served throws at the start", () => {
  for (const text of [
    "/a/b",
    "/{x}/v2/y",
    "/a/v2/b/{x=shelves/*}",
    "/a/v2/b/{x=**}/{y=**}",
    "/a/v2/b/{X}",
    "/a/v2/b/{x",
    "/a/v2/b/a b",
  ]) {
    assert.throws(() => parseTemplate(text), /template/, text);
  }
  assert.throws(() => compileRoutes([...bindings, ...bindings], (binding) => binding), /two methods claim/);
});

test("property: any path matches a target, allows other methods, or does not match", () => {
  const known = fc.constantFrom(
    "iam",
    "registry",
    "v2",
    "v2beta1",
    "groups",
    "repos",
    "readme",
    "digests",
    "size",
    ":",
    ":batchCreate",
    "%2F",
    "%",
    "",
  );
  const piece = fc.oneof(fc.string(), known);
  fc.assert(
    fc.property(fc.array(piece), fc.constantFrom("GET", "POST", "PATCH", "DELETE", "X"), (pieces, verb) => {
      const match = routes.match(verb, `/${pieces.join("/")}`);
      if (match && "target" in match)
        for (const { index } of match.target.template.variables) assert.notEqual(match.values[index], "");
    }),
  );
});
