/**
 * The network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, because one customer
 * has at least a whole /64. Source: RFC 6177 §2.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  if (address.startsWith("::ffff:") && address.includes(".")) return address.slice("::ffff:".length);
  const [head = "", tail] = address.split("::");
  const groups = head.split(":");
  if (tail !== undefined && groups.length < 4) {
    const last = tail === "" ? [] : tail.split(":");
    const all = last.length + (tail.includes(".") ? 1 : 0);
    if (head === "") groups.pop();
    for (let zeros = 8 - groups.length - all; zeros > 0 && groups.length < 4; zeros--) groups.push("0");
    groups.push(...last);
  }
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
