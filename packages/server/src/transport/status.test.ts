import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import {
  alreadyExists,
  Code,
  failedPrecondition,
  invalidArgument,
  MoorageError,
  notFound,
} from "@moorage/kernel/errors";
import { areaOf, asMoorageError, httpStatus, statusJson, toStatus } from "./status.ts";

const info = (reason: string, domain = "iam.moorage.dev") => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain,
});

test("an invalid argument lists all fields and leaves out empty details", () => {
  const error = invalidArgument(
    { field: "name", description: "is required" },
    { field: "claimMatch.issuer", description: "must be a URL" },
  );
  assert.deepEqual(statusJson(error, "iam", "moorage.dev"), {
    code: 3,
    message: "Invalid argument: name: is required",
    details: [
      info("INVALID_ARGUMENT"),
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [
          { field: "name", description: "is required" },
          { field: "claimMatch.issuer", description: "must be a URL" },
        ],
      },
    ],
  });
});

test("a failed precondition, a missing and an existing resource carry their details", () => {
  const blocked = failedPrecondition({ type: "RESOURCE_NOT_EMPTY", subject: "abc", description: "1 repo" });
  assert.deepEqual(statusJson(blocked, "iam", "moorage.dev")["details"], [
    info("FAILED_PRECONDITION"),
    {
      "@type": "type.googleapis.com/google.rpc.PreconditionFailure",
      violations: [{ type: "RESOURCE_NOT_EMPTY", subject: "abc", description: "1 repo" }],
    },
  ]);
  for (const [make, reason, verb] of [
    [notFound, "NOT_FOUND", "not found"],
    [alreadyExists, "ALREADY_EXISTS", "already exists"],
  ] as const) {
    assert.deepEqual(statusJson(make("moorage.iam.v2.Group", "abc"), "iam", "moorage.dev")["details"], [
      info(reason),
      {
        "@type": "type.googleapis.com/google.rpc.ResourceInfo",
        resourceType: "moorage.iam.v2.Group",
        resourceName: "abc",
        description: `Group ${verb}: abc`,
      },
    ]);
  }
});

test("an error carries its retry delay, metadata, request id and own area", () => {
  const error = new MoorageError(Code.Unavailable, "Unavailable", {
    area: "registry",
    retryAfterMs: 1500,
    metadata: { requestId: "r1" },
  });
  assert.deepEqual(statusJson(error, "iam", "example.org")["details"], [
    { ...info("UNAVAILABLE", "registry.example.org"), metadata: { requestId: "r1" } },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.500s" },
    { "@type": "type.googleapis.com/google.rpc.RequestInfo", requestId: "r1" },
  ]);
});

test("every code has its HTTP status and exactly one ErrorInfo", () => {
  const expected = {
    3: 400,
    5: 404,
    6: 409,
    7: 403,
    8: 429,
    9: 400,
    10: 409,
    12: 501,
    13: 500,
    14: 503,
    15: 500,
    16: 401,
  };
  for (const code of Object.values(Code)) {
    assert.equal(httpStatus(code), expected[code]);
    const status = toStatus(new MoorageError(code, "m"), "iam", "moorage.dev");
    assert.deepEqual(
      status.details.map((detail) => detail.typeUrl),
      ["type.googleapis.com/google.rpc.ErrorInfo"],
    );
  }
});

test("the area is the second part of a full name", () => {
  assert.equal(areaOf("moorage.iam.v2.GroupsService"), "iam");
  assert.equal(areaOf("grpc.health.v1.Health"), "health");
});

test("an unexpected error shows only a request id and is logged once, with its cause", () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const shown = asMoorageError(new TypeError("secret"), log, "r1");
  assert.deepEqual(
    [shown.code, shown.message, shown.details.metadata],
    [Code.Internal, "Internal error", { requestId: "r1" }],
  );
  assert.equal(asMoorageError(shown, log, "r2"), shown);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /"requestId":"r1".*request failed unexpectedly/);
  assert.match(lines[0] ?? "", /secret/);
  const internal = asMoorageError(new MoorageError(Code.Internal, "secret"), log, "r3");
  assert.equal(internal.message, "Internal error");
  const missing = notFound("moorage.iam.v2.Group", "abc");
  assert.equal(asMoorageError(missing, log, "r4"), missing);
  assert.equal(lines.length, 2);
});
