/*
Copyright The Kubernetes Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package lockfree

// The types of package cache that the store needs. Package cache imports this package, so
// this package cannot import package cache.

// IndexFunc computes the values under which an object is indexed. It is an alias, so an
// IndexFunc of package cache can be assigned to it.
type IndexFunc = func(obj any) ([]string, error)

// Indexers maps an index's name to the function that computes its values.
type Indexers map[string]IndexFunc

// TransactionType says what a write of a batch does.
type TransactionType string

// The types of writes, with the values that they have in package cache.
const (
	TransactionTypeAdd    TransactionType = "Add"
	TransactionTypeUpdate TransactionType = "Update"
	TransactionTypeDelete TransactionType = "Delete"
)

// Transaction is one write of a batch, without its key.
type Transaction struct {
	Object any
	Type   TransactionType
}

// KeyedTransaction is one write of a batch.
type KeyedTransaction struct {
	Transaction
	Key string
}
