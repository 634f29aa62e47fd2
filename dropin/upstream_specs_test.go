package dropin_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// specsFile is the name of the report that Ginkgo writes.
const specsFile = "specs.json"

// readSpecs adds the specs of a report to results and output, and returns their names. It is
// an error if anything but a spec failed, such as what runs before all.
func readSpecs(file string, results, output map[string]string) (names []string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var report []struct {
		SpecReports []struct {
			ContainerHierarchyTexts    []string
			LeafNodeType, LeafNodeText string
			State                      string
			Failure                    struct {
				Message  string
				Location struct {
					FileName   string
					LineNumber int
				}
			}
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("reading Ginkgo's report: %w", err)
	}
	for _, suite := range report {
		for _, spec := range suite.SpecReports {
			at := fmt.Sprintf("%s:%d: %s", spec.Failure.Location.FileName, spec.Failure.Location.LineNumber,
				spec.Failure.Message)
			if spec.LeafNodeType != "It" {
				if spec.State != "passed" {
					return nil, fmt.Errorf("%s %s: %s", spec.LeafNodeType, spec.State, at)
				}
				continue
			}
			name := strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " ")
			names = append(names, name)
			switch spec.State {
			case "passed":
				results[name] = "pass"
			case "skipped", "pending":
				results[name] = "skip"
			default:
				results[name], output[name] = "fail", at
			}
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no specs", file)
	}
	return names, nil
}
