import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobsUrlError, parseS3Url } from "./s3-url.ts";

test("everything but the bucket is optional", () => {
  assert.deepEqual(parseS3Url("s3://images"), {
    bucket: "images",
    prefix: "",
    endpoint: undefined,
    region: undefined,
    pathStyle: false,
  });
  assert.deepEqual(parseS3Url("s3://images/a/b/?region=eu-west-1"), {
    bucket: "images",
    prefix: "a/b/",
    endpoint: undefined,
    region: "eu-west-1",
    pathStyle: false,
  });
  assert.deepEqual(parseS3Url("s3://images/p?endpoint=http://127.0.0.1:7070"), {
    bucket: "images",
    prefix: "p/",
    endpoint: "http://127.0.0.1:7070",
    region: "us-east-1",
    pathStyle: true,
  });
  assert.deepEqual(
    parseS3Url("s3://images?endpoint=https%3A%2F%2Fs3.example.org%2Fstorage%2F&region=auto&style=virtual"),
    { bucket: "images", prefix: "", endpoint: "https://s3.example.org/storage", region: "auto", pathStyle: false },
  );
});

test("the error names the wrong part and does not repeat a password", () => {
  for (const [text, message] of [
    ["https://images/p", /s3:\/\/bucket/],
    ["images", /s3:\/\/bucket/],
    ["s3://images#x", /s3:\/\/bucket/],
    ["s3:///p", /^bucket: /],
    ["s3://IMAGES", /^bucket: /],
    ["s3://i", /^bucket: /],
    ["s3://images/a//b", /^prefix: /],
    ["s3://images/a%20b", /^prefix: /],
    ["s3://images?endpont=http://x", /^endpont: /],
    ["s3://images?endpoint=x", /^endpoint: /],
    ["s3://images?endpoint=http://u:secret@x", /^endpoint: /],
    ["s3://images?endpoint=ftp://x", /^endpoint: /],
    ["s3://images?region=a&region=b", /^region: /],
    ["s3://images?region=a/b", /^region: /],
    ["s3://images?style=host", /^style: /],
    ["s3://images?style=virtual&endpoint=http://127.0.0.1:1", /^style: /],
    ["s3://images?style=virtual&endpoint=http://[::1]:1", /^style: /],
    ["s3://key:secret@images", /credentials/],
  ] as const) {
    const isExpected = (error: Error): boolean =>
      error instanceof BlobsUrlError && message.test(error.message) && !error.message.includes("secret");
    assert.throws(() => parseS3Url(text), isExpected, text);
  }
});
