import assert from "node:assert/strict";
import { test } from "node:test";
import type { AccessRemedy, AccessStep, ExplainAccessResponse } from "../../../api/gen/iam.ts";
import { ANYBODY, requestOf, TOKEN } from "./request.ts";
import { answerOf, repoOf, shownRemedy, shownStep } from "./words.ts";

const STEP: AccessStep = {
  kind: "KIND_BINDING",
  outcome: "OUTCOME_FAILED",
  message: "the binding does not give it",
  uid: "org/binding",
  name: "viewer",
  group: "org",
  groupName: "acme",
  capability: "CAPABILITY_UNSPECIFIED",
};
const QUESTION = { identity: "org/one", action: "pull", resource: "acme/app:1.0" };

test("a question becomes a request when it is whole", () => {
  assert.equal(requestOf({}), undefined);
  assert.equal(requestOf({ identity: "org/one" }), undefined);
  assert.deepEqual(requestOf({ identity: "org/one", resource: "acme/app:1.0" }), {
    identity: "org/one",
    action: "REGISTRY_ACTION_PULL",
    resource: "acme/app:1.0",
  });
  assert.deepEqual(requestOf({ identity: ANYBODY, action: "method", method: "A/B" }), {
    anonymous: true,
    method: "A/B",
    resource: "",
  });
  assert.equal(requestOf({ identity: TOKEN, resource: "acme/app" }), undefined);
  assert.deepEqual(requestOf({ identity: TOKEN, resource: "acme/app", issuer: "https://ci.example", action: "push" }), {
    claims: { issuer: "https://ci.example", subject: "" },
    action: "REGISTRY_ACTION_PUSH",
    resource: "acme/app",
  });
  assert.equal(requestOf({ identity: ANYBODY, action: "fly", resource: "acme/app" }), undefined);
});

test("the repository of an image, and none of a uid", () => {
  assert.equal(repoOf({ resource: "acme/app:1.0" }), "acme/app");
  assert.equal(repoOf({ resource: `acme/team/app:1.0@sha256:${"a".repeat(64)}` }), "acme/team/app");
  assert.equal(repoOf({ resource: `${"a".repeat(40)}/${"b".repeat(16)}` }), "");
  assert.equal(repoOf({ action: "method", resource: "acme/app" }), "");
});

test("a step says in words what came of it, with the page where it is managed", () => {
  assert.deepEqual(shownStep(STEP, QUESTION, "org/one"), {
    about: "Role binding",
    outcome: "Failed",
    message: "The binding does not give it.",
    place: { label: "Roles there", href: "/access/bindings?group=org&identity=org%2Fone" },
  });
  const hidden = shownStep({ ...STEP, group: "", outcome: "OUTCOME_NOT_APPLICABLE" }, QUESTION, "org/one");
  assert.equal(hidden.place, undefined);
  assert.equal(hidden.outcome, "Does not apply");
  assert.equal(shownStep({ ...STEP, kind: "KIND_GATE" }, QUESTION, "").place?.href, "/repo/settings?name=acme%2Fapp");
  assert.equal(shownStep({ ...STEP, kind: "KIND_IDENTITY", uid: "" }, QUESTION, "").place, undefined);
});

test("a remedy leads to the page where it is done", () => {
  const remedy: AccessRemedy = {
    message: "bind a role",
    capabilities: ["CAP_TAG_LIST"],
    group: "org",
    documentIds: [],
  };
  const answer = { reason: "ACCESS_REASON_CAPABILITY_MISSING", identity: "org/one" } as const;
  assert.deepEqual(shownRemedy(remedy, QUESTION, answer), {
    message: "Bind a role.",
    places: [{ label: "Give a role there", href: "/access/bindings?group=org&identity=org%2Fone" }],
  });
  const terms = { ...remedy, capabilities: [], documentIds: ["privacy", "terms"] };
  assert.equal(
    shownRemedy(terms, QUESTION, answer).places[0]?.href,
    "/access/terms?group=org&document=privacy%2Cterms",
  );
  assert.deepEqual(shownRemedy({ ...remedy, group: "" }, QUESTION, answer).places, []);
});

test("the answer is one sentence", () => {
  const answer = { allowed: false, message: "identity a/1 lacks CAP_TAG_LIST", identity: "a/1" };
  assert.equal(answerOf(answer as ExplainAccessResponse), "No: identity a/1 lacks CAP_TAG_LIST.");
  assert.equal(answerOf(answer as ExplainAccessResponse, "ci"), "No: identity ci lacks CAP_TAG_LIST.");
});
