"""Judges documents by JSON Schema, for test/integrations/json_schema_test.exs.

The file's first line is a schema, and each other line a document. Prints the version of the library, then for each document 1 or 0. A
schema that the metaschema does not allow ends the program with an error.
"""

import json
import sys
from importlib.metadata import version

from jsonschema import Draft202012Validator, FormatChecker

with open(sys.argv[1], encoding="utf-8", newline="\n") as lines:
    schema = json.loads(next(lines))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    print(version("jsonschema"))
    for line in lines:
        print(int(validator.is_valid(json.loads(line))))
