import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { type Installation, startInstallation } from "../support/installation.ts";
import { sendRaw } from "../support/raw-http.ts";

// How many time series /metrics has: each one costs whoever stores them, at every server. Bounds are above what is
// counted today by a tenth or so; raise one only for a metric that a dashboard or a rule needs.

// Some 303, and 18 for each job that has run by then.
const MAX_EMPTY = 360;
const MAX_ALL_METHODS = 2_150;

async function series({ url }: Installation): Promise<string[]> {
  const response = await fetch(`${url}/metrics`);
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => line.slice(0, line.lastIndexOf(" "))).toSorted();
}

/**
 * What a stranger may write into a request: paths, methods, user agents, hosts, names of repos, packages and services,
 * tokens, traces.
 */
async function hostileRequests({ url, ask, registry }: Installation, name: string): Promise<void> {
  const headers = {
    "user-agent": `${name}/1.0`,
    traceparent: `00-${randomUUID().replaceAll("-", "")}-00f067aa0ba902b7-01`,
    "x-forwarded-host": `${name}.example`,
    "x-request-id": name,
  };
  const token = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.e30`;
  for (const path of [
    `/${name}`,
    `/iam/v2/${name}`,
    `/iam/v2/groups/${name}?${name}=${name}`,
    `/v2/${name}/app/manifests/${name}`,
    `/v2/${name}/app/blobs/sha256:${name}`,
    `/v2/${name}/_oci/${name}/${name}`,
    `/npm/${name}/${name}`,
    `/pypi/${name}/simple/${name}/`,
    `/maven/${name}/org/${name}/1.0/${name}-1.0.jar`,
    `/token?service=${name}&scope=repository:${name}/app:pull`,
    `/sts/exchange?aud=${name}`,
    `/docs/${name}`,
    `/mcp/${name}`,
    `/assets/${name}.js`,
    `/.well-known/${name}`,
  ]) {
    await ask("GET", path, { headers });
    await ask("GET", path, { headers, token: token({ iss: `https://${name}.example`, sub: name }) });
    await ask("POST", path, { headers, json: { [name]: name } });
  }
  await ask("GET", `/v2/acme/${name}/manifests/${name}`, { headers, token: registry });
  await ask("PUT", `/v2/acme/${name}/manifests/${name}`, { headers, token: registry, bytes: name });
  for (const type of ["application/grpc", "application/grpc-web", "application/proto", `application/${name}`])
    await ask("POST", `/moorage.iam.v2.${name}/${name}`, { headers: { ...headers, "content-type": type }, bytes: "" });
  for (const line of [`${name.toUpperCase()} / HTTP/1.1`, `PROPFIND /${name} HTTP/1.1`, `GET /${name} HTTP/7.3`])
    await sendRaw(Number(new URL(url).port), [line, `Host: ${name}.example`]);
}

test("an empty server has few time series, and one of which every method was called a bounded number", async (t) => {
  const installation = await startInstallation(t);
  await series(installation);
  const empty = await series(installation);
  t.diagnostic(`${empty.length} time series of an empty server`);
  assert.ok(empty.length <= MAX_EMPTY, `${empty.length} time series`);

  const { text } = await installation.ask("GET", "/openapi.json");
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> };
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    ["get", "post", "put", "patch", "delete"].filter((method) => method in methods).map((method) => ({ path, method })),
  );
  assert.ok(calls.length > 200, `${calls.length} methods`);
  for (const { path, method } of calls)
    await fetch(`${installation.url}${path.replace(/\{[^}]*\}/g, "none")}`, {
      method: method.toUpperCase(),
      redirect: "manual",
    }).then((response) => response.arrayBuffer());
  const all = await series(installation);
  assert.ok(all.length > empty.length + 200, "the methods are counted");
  t.diagnostic(`${all.length} after ${calls.length} methods`);
  assert.ok(all.length <= MAX_ALL_METHODS, `${all.length} time series`);
});

test("no request of a stranger brings a time series that another one did not", async (t) => {
  const installation = await startInstallation(t);
  await hostileRequests(installation, "first");
  await series(installation);
  const few = (await series(installation)).filter((name) => name.startsWith("moorage_"));
  for (let count = 0; count < 8; count += 1) await hostileRequests(installation, `made-up-${count}`);
  const many = (await series(installation)).filter((name) => name.startsWith("moorage_"));
  assert.deepEqual(
    many.filter((name) => !few.includes(name) && !isBackground(name)),
    [],
  );
  assert.deepEqual(
    many.filter((name) => name.includes("made-up")),
    [],
  );
});

// Commands of jobs, whose first run may come at any time.
function isBackground(name: string): boolean {
  return /^moorage_database_.*(?:operation|area)="(?!method|read)\w/.test(name);
}
