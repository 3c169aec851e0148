import type { TagRetentionRule, TagRetentionRuleInput } from "../../api/gen/registry.ts";
import { daysOf, durationOfDays } from "../../lib/durations.ts";
import type { FieldErrors } from "../../lib/field-errors.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Row, Stack } from "../../ui/page.tsx";

/** A rule as its fields have it. */
export interface Rule {
  id: number;
  tagPattern: string;
  keepLast: string;
  keepDays: string;
}

/** The fields of a rule. */
export function ruleFields({ tagPattern, keepLast, keepFor }: TagRetentionRule, id: number): Rule {
  return { id, tagPattern, keepLast: keepLast === 0 ? "" : String(keepLast), keepDays: daysOf(keepFor) };
}

/** The rule that the fields say. */
export function ruleOf({ tagPattern, keepLast, keepDays }: Rule): TagRetentionRuleInput {
  const keepFor = durationOfDays(keepDays);
  return { tagPattern: tagPattern.trim(), keepLast: Number(keepLast), ...(keepFor !== undefined && { keepFor }) };
}

export interface RetentionRulesProps {
  rules: readonly Rule[];
  onRules: (rules: readonly Rule[]) => void;
  errors: FieldErrors;
}

/** The rules of retention in their order: the first whose pattern fits a tag decides about it. */
export function RetentionRules({ rules, onRules, errors }: RetentionRulesProps) {
  const change = (id: number, values: Partial<Rule>): void =>
    onRules(rules.map((rule) => (rule.id === id ? { ...rule, ...values } : rule)));
  const add = (): void => {
    const id = Math.max(-1, ...rules.map((rule) => rule.id)) + 1;
    onRules([...rules, { id, tagPattern: "", keepLast: "", keepDays: "" }]);
  };
  return (
    <fieldset>
      <legend>Retention: which tags are deleted in time</legend>
      <Stack>
        <p>The first rule that fits a tag decides. A tag that no rule fits stays.</p>
        {rules.map(({ id, tagPattern, keepLast, keepDays }, index) => (
          <Row key={id}>
            <TextField
              label={`Rule ${index}: tags`}
              value={tagPattern}
              placeholder="all"
              spellCheck={false}
              onChange={({ target }) => change(id, { tagPattern: target.value })}
              error={errors(`retention[${index}]`)}
            />
            <TextField
              label={`Rule ${index}: keep the last`}
              type="number"
              min={0}
              value={keepLast}
              onChange={({ target }) => change(id, { keepLast: target.value })}
            />
            <TextField
              label={`Rule ${index}: keep for days`}
              type="number"
              min={0}
              step="any"
              value={keepDays}
              onChange={({ target }) => change(id, { keepDays: target.value })}
            />
            <Button aria-label={`Remove rule ${index}`} onClick={() => onRules(rules.filter((rule) => rule.id !== id))}>
              Remove
            </Button>
          </Row>
        ))}
        <Row>
          <Button onClick={add}>Add a rule</Button>
        </Row>
      </Stack>
    </fieldset>
  );
}
