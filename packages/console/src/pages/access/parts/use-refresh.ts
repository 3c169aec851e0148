import { useQueryClient } from "@tanstack/react-query";

const AREAS = [
  "/iam/",
  "/libraries/",
  "/vulnerabilities/v2/scanners",
  "/registry/v2/sign",
  "/registry/v2/trustRoots",
  "/registry/v2/replications",
  "/registry/v2/upstreams",
];

/**
 * Reads everything about access, the rules of packages, scanners and signatures again after a change: a group, a role
 * or a binding changes what may be seen and done elsewhere.
 */
export function useChanged(): () => Promise<void> {
  const client = useQueryClient();
  return () =>
    client.invalidateQueries({
      predicate: ({ queryKey: [first] }) => typeof first === "string" && AREAS.some((area) => first.startsWith(area)),
    });
}
