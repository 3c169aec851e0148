import { useQueryClient } from "@tanstack/react-query";

/**
 * Reads everything about access and the rules of packages again after a change: a group, a role or a binding changes what may be seen and done
 * elsewhere.
 */
export function useChanged(): () => Promise<void> {
  const client = useQueryClient();
  return () =>
    client.invalidateQueries({
      predicate: ({ queryKey: [first] }) =>
        typeof first === "string" && (first.startsWith("/iam/") || first.startsWith("/libraries/")),
    });
}
