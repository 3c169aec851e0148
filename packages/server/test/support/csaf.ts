interface TestResult {
  isValid: boolean;
  tests: { name: string; isValid: boolean; errors: object[] }[];
}

/**
 * What the schema and the mandatory tests of CSAF 2.0 find wrong with a document; empty for a valid one. Source: OASIS
 * CSAF 2.0, section 6.1.
 */
export async function csafProblems(document: object): Promise<object[]> {
  // The library has no types.
  const of = async <T>(module: string): Promise<T> =>
    (await import(`@secvisogram/csaf-validator-lib/${module}.js`)) as T;
  const { csaf_2_0_strict: schema } = await of<{ csaf_2_0_strict: object }>("schemaTests");
  const mandatory = await of<Record<string, object>>("mandatoryTests");
  const { default: validate } = await of<{
    default: (tests: object[], document: object) => Promise<TestResult>;
  }>("validateStrict");
  const { tests } = await validate([schema, ...Object.values(mandatory)], document);
  return tests.filter(({ isValid }) => !isValid).map(({ name, errors }) => ({ name, errors }));
}
