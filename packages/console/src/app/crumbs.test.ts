import assert from "node:assert/strict";
import { test } from "node:test";
import { crumbsOf } from "./crumbs.ts";

const labels = (pathname: string, name = "", title = ""): string[] =>
  crumbsOf(pathname, name, title).map(({ label }) => label);

test("a page of the navigation stands below its place, and is said once", () => {
  assert.deepEqual(labels("/"), ["Home"]);
  assert.deepEqual(labels("/images"), ["Images"]);
  assert.deepEqual(labels("/access/machines"), ["Access", "Machines"]);
  assert.deepEqual(labels("/access/pull-tokens"), ["Access", "Machines", "Pull tokens"]);
  assert.deepEqual(labels("/events/subscription", "", "https://hooks.example.com"), [
    "Activity",
    "Webhooks",
    "https://hooks.example.com",
  ]);
});

test("the way to an image is the path of its name, below the organization", () => {
  assert.deepEqual(crumbsOf("/tag", "acme/payments/web:2.1", ""), [
    { label: "Images", href: "/images" },
    { label: "payments", group: "acme/payments" },
    { label: "web", href: "/repo?name=acme%2Fpayments%2Fweb" },
    { label: "2.1" },
  ]);
  assert.deepEqual(labels("/image", `acme/web@sha256:${"ab".repeat(32)}`), ["Images", "web", "sha256:abababababab"]);
  assert.deepEqual(labels("/repo/settings", "acme/web"), ["Images", "web", "Settings"]);
});

test("the last step is the page itself and leads nowhere; a page of no place has its title", () => {
  for (const path of ["/", "/repo", "/audit"]) assert.equal(crumbsOf(path, "acme/web", "x").at(-1)?.href, undefined);
  assert.deepEqual(labels("/profile", "", "Profile"), ["Profile"]);
  assert.deepEqual(labels("/nowhere"), []);
});
