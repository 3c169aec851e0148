import { ApiError } from "../../../api/errors.ts";

/** Which field of a form is wrong, as the server said; and the error, when it is about more than these fields. */
export function fieldErrors(
  error: unknown,
  names: readonly string[],
): { byName: ReadonlyMap<string, string>; rest: unknown } {
  const byName = new Map<string, string>();
  if (!(error instanceof ApiError) || error.violations.length === 0) return { byName, rest: error };
  let isAllShown = true;
  for (const { field, description } of error.violations) {
    const path = field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const name = names.find((each) => path === each || path.endsWith(`.${each}`) || path.startsWith(`${each}[`));
    if (name === undefined) isAllShown = false;
    else if (!byName.has(name)) byName.set(name, description);
  }
  return { byName, rest: isAllShown ? undefined : error };
}
