// What `moorage doctor` says of a bucket, on a real S3 server where there is one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_S3, s3Url } from "../../server/test/support/s3.ts";
import { temporaryFolder } from "./commands.ts";
import { doctor } from "./doctor.ts";

const KEYS = { AWS_ACCESS_KEY_ID: "ops-key", AWS_SECRET_ACCESS_KEY: "geheim" };

test("a bucket whose server is not there is named with server, bucket, key and cause", async (t) => {
  const cwd = temporaryFolder(t);
  const env = { ...KEYS, MOORAGE_BLOBS_URL: "s3://images/prod?endpoint=http://127.0.0.1:1" };
  const found = await doctor(["--port", "1"], { cwd, env });
  assert.equal(found.code, 1);
  assert.match(
    found.of("bucket")[0]?.message ?? "",
    /^http:\/\/127\.0\.0\.1:1 \(bucket images, below prod\/, access key ops-key\): .*ECONNREFUSED/,
  );
  assert.match(found.of("bucket")[0]?.fix ?? "", /MOORAGE_BLOBS_URL or the credentials/);
  assert.doesNotMatch(found.stdout, /geheim/);
});

test("a bucket is written to; one that is not there, and a wrong key, are found", { skip: NO_S3 }, async (t) => {
  const cwd = temporaryFolder(t);
  const keys = {
    AWS_ACCESS_KEY_ID: process.env["AWS_ACCESS_KEY_ID"] ?? "",
    AWS_SECRET_ACCESS_KEY: process.env["AWS_SECRET_ACCESS_KEY"] ?? "",
  };
  const url = s3Url();
  const look = (env: Record<string, string>) =>
    doctor(["--port", "1"], { cwd, env: { ...keys, MOORAGE_BLOBS_URL: url, ...env } });
  const good = await look({});
  assert.equal(good.states("bucket"), "ok", good.stdout);
  assert.match(good.of("bucket")[0]?.message ?? "", /\(bucket blobs, below .*\): can be written to$/);

  const missing = await look({ MOORAGE_BLOBS_URL: url.replace("s3://blobs/", "s3://nothing/") });
  assert.equal(missing.code, 1);
  assert.match(
    missing.of("bucket")[0]?.message ?? "",
    /\(bucket nothing, .*\): .*(?:NoSuchBucket|there is no such bucket)/,
  );

  const denied = await look({ AWS_SECRET_ACCESS_KEY: "geheim" });
  assert.equal(denied.code, 1);
  assert.match(denied.of("bucket")[0]?.message ?? "", /access key .*\): .*SignatureDoesNotMatch/);
  assert.doesNotMatch(denied.stdout, /geheim/);
});
