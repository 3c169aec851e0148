import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import test from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { IdentitySchema } from "@moorage/api";
import { validateRelationship } from "./relationship.ts";

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwks = (key: { export(options: { format: "jwk" }): object }): string =>
  JSON.stringify({ keys: [key.export({ format: "jwk" })] });
const faults = (relationship: MessageInitShape<typeof IdentitySchema>["relationship"]) =>
  validateRelationship(create(IdentitySchema, { relationship })).map(({ field }) => field);
const issuer = (value: string) => ({ case: "issuer" as const, value });
const subject = (value: string) => ({ case: "subject" as const, value });

test("no relationship, or a valid one, has no violations", () => {
  assert.deepEqual(faults({ case: undefined }), []);
  assert.deepEqual(
    faults({
      case: "claimMatch",
      value: {
        iss: issuer("https://issuer.example/tenant"),
        sub: subject("robot"),
        claims: { a: "" },
        claimPatterns: { b: ".*" },
      },
    }),
    [],
  );
  const patterns = {
    iss: { case: "issuerPattern" as const, value: "https://.*" },
    sub: { case: "subjectPattern" as const, value: "a|b" },
  };
  assert.deepEqual(
    faults({ case: "claimMatch", value: { ...patterns, aud: { case: "audiencePattern", value: "x+" } } }),
    [],
  );
  assert.deepEqual(
    faults({ case: "staticKeys", value: { issuer: "offline", subject: "robot", issuerKeys: jwks(keys.publicKey) } }),
    [],
  );
  assert.deepEqual(
    faults({ case: "awsIdentity", value: { awsAccount: "123456789012", awsArn: { case: "arnPattern", value: ".*" } } }),
    [],
  );
});

test("all violations of a claim match are reported together", () => {
  assert.deepEqual(faults({ case: "claimMatch", value: {} }), ["claimMatch.issuer", "claimMatch.subject"]);
  assert.deepEqual(faults({ case: "claimMatch", value: { iss: issuer(""), sub: subject("") } }), [
    "claimMatch.issuer",
    "claimMatch.subject",
  ]);
  for (const url of [
    "issuer",
    "ftp://x",
    "https://",
    "https://user@x",
    "https://x?a",
    "https://x?",
    "https://x#",
    "https://x/ y",
    "https:x",
    "javascript:alert(1)",
    "https://x/a/../b",
    "https://x/.",
    "https://x/a/%2E%2e/b",
    "https://x\\@y",
  ]) {
    assert.deepEqual(
      faults({ case: "claimMatch", value: { iss: issuer(url), sub: subject("s") } }),
      ["claimMatch.issuer"],
      url,
    );
  }
  const bad = {
    iss: { case: "issuerPattern" as const, value: "a)|(b" },
    sub: { case: "subjectPattern" as const, value: "" },
    aud: { case: "audience" as const, value: "" },
  };
  assert.deepEqual(
    faults({ case: "claimMatch", value: { ...bad, claims: { "": "x" }, claimPatterns: { ref: "(" } } }),
    [
      "claimMatch.issuerPattern",
      "claimMatch.subjectPattern",
      "claimMatch.audience",
      "claimMatch.claims",
      "claimMatch.claimPatterns",
    ],
  );
});

test("static keys need an issuer, a subject and public keys", () => {
  assert.deepEqual(faults({ case: "staticKeys", value: {} }), [
    "staticKeys.issuer",
    "staticKeys.subject",
    "staticKeys.issuerKeys",
  ]);
  for (const issuerKeys of [jwks(keys.privateKey), "{", "[]", "null", `{"keys":[]}`, "[".repeat(60_000)]) {
    assert.deepEqual(
      faults({ case: "staticKeys", value: { issuer: "i", subject: "s", issuerKeys, audiences: [""] } }),
      ["staticKeys.issuerKeys", "staticKeys.audiences"],
    );
  }
});

test("a service principal is rejected; an AWS identity needs an account, and an ARN or a user id", () => {
  assert.deepEqual(faults({ case: "servicePrincipal", value: 0 }), ["servicePrincipal"]);
  assert.deepEqual(faults({ case: "awsIdentity", value: { awsAccount: "1" } }), [
    "awsIdentity.awsAccount",
    "awsIdentity.arn",
  ]);
  assert.deepEqual(
    faults({
      case: "awsIdentity",
      value: {
        awsAccount: "123456789012",
        awsArn: { case: "arn", value: "" },
        awsUserId: { case: "userIdPattern", value: "(" },
      },
    }),
    ["awsIdentity.arn", "awsIdentity.userIdPattern"],
  );
});

test("the patterns of an identity together may be as complex as one", () => {
  const pattern = "x{0,900}y";
  const claimPatterns = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`claim${at}`, pattern]));
  const match = (count: number) => ({
    case: "claimMatch" as const,
    value: { iss: issuer("https://issuer.example"), sub: subject("robot"), claimPatterns: claimPatterns(count) },
  });
  assert.deepEqual(faults(match(5)), []);
  assert.deepEqual(new Set(faults(match(20))), new Set(["claimMatch.claimPatterns"]));
});
