import assert from "node:assert/strict";
import { test } from "node:test";
import { networkOf } from "./network.ts";

test("an IPv4 address counts by itself, an IPv6 address by its /64, in every notation", () => {
  for (const [address, network] of [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["", ""],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0db8:0001:0002::9", "2001:db8:1:2"],
    ["2001:DB8:1:2:ffff::", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:db8::1:2:3:4:5", "2001:db8:0:1"],
    ["::1", "0:0:0:0"],
    ["::", "0:0:0:0"],
    ["1::", "1:0:0:0"],
    ["::2:3:4:5:6:7:8", "0:2:3:4"],
    ["1:2:3::", "1:2:3:0"],
    ["64:ff9b::192.0.2.7", "64:ff9b:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
  ] as const)
    assert.equal(networkOf(address), network, address);
});
