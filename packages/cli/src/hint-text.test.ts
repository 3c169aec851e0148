import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "@moorage/server";
import type { Client } from "./clients.ts";
import { hints } from "./hint-text.ts";
import { pushLines } from "./push-lines.ts";
import { quote } from "./shell.ts";

const named = (name: string): { uid: string; name: string } => ({ uid: "a".repeat(40), name });
const bootstrap = {
  baseUrl: "http://127.0.0.1:8080",
  registryUrl: "http://127.0.0.1:8080",
  organization: named("acme"),
  publicOrganization: named("public"),
  identity: { uid: "b".repeat(40) },
};

function textFor(clients: readonly Client[], settings: Record<string, string> = {}): string {
  return hints({ config: loadConfig(settings), bootstrap, clients, folder: "/somewhere/it's" });
}

test("only installed programs are used, and without an OCI client moorage itself pushes", () => {
  const none = textFor(["curl"]);
  assert.match(
    none,
    /^npx moorage sample --build 1 --push http:\/\/127\.0\.0\.1:8080\/acme\/hello:latest --data-dir /m,
  );
  assert.doesNotMatch(none, /^(skopeo|crane|podman|buildah|oras|grpcurl) /m);
  for (const client of ["skopeo", "crane", "podman", "buildah", "oras"] as const)
    assert.match(textFor([client, "curl"]), new RegExp(`^${client} .*acme/hello:latest$`, "m"));
  assert.doesNotMatch(textFor([]), /curl -/);
});

test("every line is a command or a comment without quotes, and the folder is quoted", () => {
  const text = textFor(["skopeo", "curl", "grpcurl"]);
  assert.match(text, /^cd '\/somewhere\/it'\\''s'$/m);
  for (const line of text.split("\n").filter((each) => each.startsWith("#"))) assert.doesNotMatch(line, /['"`$]/);
});

test("a registry over TLS gets no flag for plain HTTP", () => {
  const config = loadConfig({
    MOORAGE_REGISTRY_URL: "https://registry.example.test",
    MOORAGE_BASE_URL: "https://api.example.test",
  });
  for (const client of ["skopeo", "crane", "podman", "buildah", "oras"] as const) {
    const lines = pushLines(client, { config, layout: "/tmp/sample", dataDirFlag: "" }, 1, "acme/hello:latest").join(
      "\n",
    );
    assert.doesNotMatch(lines, /plain-http|insecure|tls-verify/);
    assert.match(lines, /registry\.example\.test\/acme\/hello:latest/);
  }
});

test("a shell reads a quoted value unchanged", () => {
  assert.equal(quote("a b"), "'a b'");
  assert.equal(quote("it's"), "'it'\\''s'");
});
