/**
 * This process's environment for a server of a test: without the settings of Moorage and the variables of the test
 * runner. `isBundled`: it takes its threads and processes from the bundle of these sources, where there is one; false
 * for other versions.
 */
export function inheritedEnv({ isBundled = true } = {}): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      name === "MOORAGE_BUNDLE"
        ? isBundled
        : name === "MOORAGE_TEST_DECLARATIONS" || (!name.startsWith("MOORAGE_") && !name.startsWith("NODE_TEST")),
    ),
  );
}
